// `dev.json` in the state folder, in which `npx weir demo` records its URL, tokens and processes. Invariant: the file is validated
// on reading, and every error says what to do.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'

/** State folder of `npx weir demo`, relative to the current folder. */
export const DEFAULT_STATE = '.weir'

export const DevFile = z.object({
  url: z.string(),
  key: z.string(),
  service_key: z.string(),
  admin_token: z.string(),
  feed_token: z.string(),
  metrics_token: z.string(),
  /** Private key of the wallet with tokens on the simulated chain. */
  wallet_key: z.string(),
  /** Process ids by name; empty after `npx weir demo` ended normally. */
  pids: z.record(z.string(), z.number()),
})
export type DevFile = z.infer<typeof DevFile>

/** Path of dev.json. */
export function devFilePath(stateDir: string): string {
  return join(resolve(stateDir), 'dev.json')
}

/** The running launch, or an error. `instead`: options that name a different gateway. */
export function readDevFile(stateDir: string = DEFAULT_STATE, instead = '--url and --token'): Result<DevFile, string> {
  const path = devFilePath(stateDir)
  const notRunning = `"npx weir demo" is not running with state folder ${stateDir}. Start it, or pass ${instead}.`
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return err(
      code === 'ENOENT'
        ? notRunning
        : `${path} cannot be read (${code}). Run this command as the user that runs "npx weir demo".`,
    )
  }
  const file = DevFile.safeParse(parseJson(text))
  if (!file.success) return err(`${path} is damaged. Run "npx weir demo" again, or pass ${instead}.`)
  return Object.keys(file.data.pids).length > 0 ? ok(file.data) : err(notRunning)
}
