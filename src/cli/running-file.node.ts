// `running.json` in the state folder, in which `weir demo` and `weir serve` record their URL, tokens and processes, for the
// commands of the same machine. Invariant: the file is validated on reading, and every error says what to do.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'

/** State folder, relative to the current folder. */
export const DEFAULT_STATE = '.weir'

export const RunningFile = z.object({
  url: z.string(),
  admin_token: z.string(),
  feed_token: z.string(),
  metrics_token: z.string(),
  /** Process ids by name; empty after a normal end. */
  pids: z.record(z.string(), z.number()),
  /** API key and service key of the demo account. Only `weir demo` has these and the next. */
  key: z.string().optional(),
  service_key: z.string().optional(),
  /** Private key of the wallet with tokens on the simulated chain. */
  wallet_key: z.string().optional(),
})
export type RunningFile = z.infer<typeof RunningFile>

export function runningFilePath(stateDir: string): string {
  return join(resolve(stateDir), 'running.json')
}

/** The running gateway, or an error. `instead`: options that name a different gateway. */
export function readRunning(
  stateDir: string = DEFAULT_STATE,
  instead = '--url and --token',
): Result<RunningFile, string> {
  const path = runningFilePath(stateDir)
  const notRunning = `No gateway is running with state folder ${stateDir}. Start it with "npx weir demo" or "npx weir serve", or pass ${instead}.`
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return err(
      code === 'ENOENT'
        ? notRunning
        : `${path} cannot be read (${code}). Run this command as the user that runs the gateway.`,
    )
  }
  const file = RunningFile.safeParse(parseJson(text))
  if (!file.success) return err(`${path} is damaged. Start the gateway again, or pass ${instead}.`)
  return Object.keys(file.data.pids).length > 0 ? ok(file.data) : err(notRunning)
}
