// `dev.json` in the state folder: where `npm start` says what runs and with which tokens. Law: parsed on reading, and
// whatever is wrong with it is one sentence that says what to do.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'

const root = join(import.meta.dirname, '../..')

/** State folder of `npm start`, relative to the root of the repository. */
export const DEFAULT_STATE = '.weir'

export const DevFile = z.object({
  url: z.string(),
  key: z.string(),
  service_key: z.string(),
  admin_token: z.string(),
  feed_token: z.string(),
  /** Process ids by name; empty once `npm start` has ended in good order. */
  pids: z.record(z.string(), z.number()),
})
export type DevFile = z.infer<typeof DevFile>

/** Path of dev.json in a state folder, which is taken from the root of the repository when it is relative. */
export function devFilePath(stateDir: string): string {
  return join(resolve(root, stateDir), 'dev.json')
}

/** What runs, or one sentence for a person; `instead`: the options that name another gateway. */
export function readDevFile(stateDir: string = DEFAULT_STATE, instead = '--url and --token'): Result<DevFile, string> {
  const path = devFilePath(stateDir)
  const nothing = `Nothing runs on ${stateDir}: run "npm start" first, or say ${instead}.`
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return err(code === 'ENOENT' ? nothing : `${path} cannot be read (${code}): run this as the user of "npm start".`)
  }
  const file = DevFile.safeParse(parseJson(text))
  if (!file.success) return err(`${path} is damaged: run "npm start" again, or say ${instead}.`)
  return Object.keys(file.data.pids).length > 0 ? ok(file.data) : err(nothing)
}
