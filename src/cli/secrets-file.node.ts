// .secrets.json: the secrets that a deploy generated, and the first API key. Invariants: a secret is in the file before it is
// sent anywhere, because Cloudflare never shows it again; only its owner can read the file.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { writeAtomically } from '../core/atomic-file.node.ts'
import { parseJson } from '../core/json.ts'

export const SECRETS_FILE = '.secrets.json'
/** The first API key, in the same file. It is no secret of a Worker. */
export const FIRST_KEY = 'WEIR_KEY'

/** URL of the gateway, in the same file. */
export const ADDRESS = 'WEIR_URL'

export type Secrets = Readonly<Record<string, string>>

/** Null if the file does not exist. A damaged file is a fault, because it may be the only copy. */
export function readSecrets(folder: string): { readonly secrets: Secrets | null; readonly fault: string | null } {
  const file = join(folder, SECRETS_FILE)
  if (!existsSync(file)) return { secrets: null, fault: null }
  const parsed = z.record(z.string(), z.string()).safeParse(parseJson(readFileSync(file, 'utf8')))
  if (parsed.success) return { secrets: parsed.data, fault: null }
  const fault = `${SECRETS_FILE} is damaged. Repair it, or move it away if no Worker uses these secrets.`
  return { secrets: null, fault }
}

export function writeSecrets(folder: string, secrets: Secrets): void {
  writeAtomically(join(folder, SECRETS_FILE), `${JSON.stringify(secrets, null, 2)}\n`)
}

/** These secrets, with a random value for each that is missing. */
export function completeSecrets(given: Readonly<Record<string, string | undefined>>): Secrets {
  const secrets = Object.entries(given).map(([name, value]) => [name, value ?? randomBytes(24).toString('hex')])
  return Object.fromEntries(secrets)
}
