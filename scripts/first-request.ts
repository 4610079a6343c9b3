// What the first deploy needs beside the others: the live Worker's file without a gateway that is not there yet; and the
// first look at the new one, since whoever asks first for log and hubs has them made.

import * as z from 'zod'
import { parseJson } from '../src/core/json.ts'

const ATTEMPTS = 20
/** A new host name takes some seconds to be known everywhere. */
const PAUSE_MS = 3000

const DeployRecord = z.looseObject({
  type: z.literal('deploy'),
  worker_name: z.string(),
  targets: z.array(z.string()).default([]),
})
const StatusResponse = z.looseObject({ feedRegion: z.string().nullable(), readers: z.array(z.unknown()) })

/** A wrangler file without the tables of services that bind this Worker. */
export function withoutService(toml: string, worker: string | undefined): string {
  const tables = toml.split(/^(?=\[)/m)
  const binds = (table: string) => /^service\s*=\s*["']([^"']*)/m.exec(table)?.[1] === worker
  return tables.filter((table) => !(table.startsWith('[[services]]') && binds(table))).join('')
}

/** Where a Worker answers, of the lines that wrangler writes to WRANGLER_OUTPUT_FILE_PATH; null where none tells. */
export function addressOf(lines: string, worker: string): string | null {
  for (const line of lines.split('\n').reverse()) {
    const deployed = DeployRecord.safeParse(parseJson(line))
    if (!deployed.success || deployed.data.worker_name !== worker) continue
    const target = deployed.data.targets.find((one) => /^(?:https:\/\/)?[\w.-]+$/.test(one))
    if (target !== undefined) return target.startsWith('https://') ? target : `https://${target}`
  }
  return null
}

/** Asks for `/status` until all hubs follow the log, and says what came of it. `status` is its text, or why there is none. */
export async function firstRequest(
  address: string,
  hubs: number,
  status: (url: string) => Promise<string>,
  sleep: (ms: number) => Promise<void>,
): Promise<string> {
  let found = 'it did not answer as a gateway'
  for (let left = ATTEMPTS; left > 0; left--) {
    const seen = StatusResponse.safeParse(parseJson(await status(`${address}/status`)))
    if (seen.success) {
      const { feedRegion, readers } = seen.data
      const made = Math.min(hubs, readers.length)
      const where =
        feedRegion === null ? 'wherever this was asked from: FEED_REGION is empty' : `asked for in ${feedRegion}`
      found = `the log and ${made} of ${hubs} hubs were made, ${where}`
      if (made === hubs) return `${address}/status was asked: ${found}.`
    }
    if (left > 1) await sleep(PAUSE_MS)
  }
  return `${address}/status was asked ${ATTEMPTS} times, and ${found}. The next one to ask makes what is missing.`
}
