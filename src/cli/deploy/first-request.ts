// The address of a new gateway, and the first request to it, which creates the log and the hubs.

import * as z from 'zod'
import { parseJson } from '../../core/json.ts'

const ATTEMPTS = 20
/** A new host name takes a few seconds to resolve everywhere. */
const PAUSE_MS = 3000

const DeployRecord = z.looseObject({
  type: z.literal('deploy'),
  worker_name: z.string(),
  targets: z.array(z.string()).default([]),
})
const StatusResponse = z.looseObject({ feedRegion: z.string().nullable(), readers: z.array(z.unknown()) })

/** The URL of a deployed Worker, from the lines wrangler writes to WRANGLER_OUTPUT_FILE_PATH. Null if no line has it. */
export function addressOf(lines: string, worker: string): string | null {
  for (const line of lines.split('\n').reverse()) {
    const deployed = DeployRecord.safeParse(parseJson(line))
    if (!deployed.success || deployed.data.worker_name !== worker) continue
    const target = deployed.data.targets.find((one) => /^(?:https:\/\/)?[\w.-]+$/.test(one))
    if (target !== undefined) return target.startsWith('https://') ? target : `https://${target}`
  }
  return null
}

/** Requests `/status` until all hubs follow the log and returns the result as a sentence. `status`: the body of the page of a gateway, or the error. */
export async function firstRequest(
  address: string,
  hubs: number,
  status: (url: string) => Promise<string>,
  sleep: (ms: number) => Promise<void>,
): Promise<string> {
  let result = 'No gateway answered.'
  for (let left = ATTEMPTS; left > 0; left--) {
    const seen = StatusResponse.safeParse(parseJson(await status(address)))
    if (seen.success) {
      const { feedRegion, readers } = seen.data
      const created = Math.min(hubs, readers.length)
      const region =
        feedRegion === null ? 'near this computer, because FEED_REGION is empty' : `in the region ${feedRegion}`
      result = `The log and ${created} of ${hubs} hubs were created ${region}.`
      if (created === hubs) return `${address}/status answered. ${result}`
    }
    if (left > 1) await sleep(PAUSE_MS)
  }
  return `${address}/status was requested ${ATTEMPTS} times. ${result} The next request creates the missing objects.`
}
