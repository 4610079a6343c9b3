// The state folder of a launcher: what lies where in it, its secrets, ports and lock.
// Files that hold secrets have mode 0600, and every file is replaced whole, never written in place.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { Lock } from './leftovers.ts'
import { secretsLost } from './repair.ts'

const Secrets = z.object({
  ADMIN_TOKEN: z.string().min(32),
  FEED_TOKEN: z.string().min(32),
  KEY_SECRET: z.string().min(32),
  /** The demo key; null until the gateway has made it. */
  key: z.string().nullable(),
})
export type Secrets = z.infer<typeof Secrets>

const Ports = z.object({ gateway: z.int(), devnet: z.int() })
export type Ports = z.infer<typeof Ports>

export class StateFolder {
  readonly path: string
  /** The command that forgets this folder. */
  readonly reset: string

  constructor(path: string, reset = 'npm start -- --reset') {
    this.path = path
    this.reset = reset
  }

  /** Makes the folder; throws what the system says where it cannot be written. */
  prepare(): void {
    makeFolder(join(this.path, 'log'))
    writeWhole(join(this.path, '.writable'), '')
    rmSync(join(this.path, '.writable'))
  }

  /** Forgets everything that a launcher puts here, and nothing else that may lie in the folder. */
  forget(): void {
    for (const name of ['node', 'feeder', 'gateway', 'log', 'secrets.json', 'ports.json', 'lock.json', 'dev.json'])
      rmSync(join(this.path, name), { recursive: true, force: true })
  }

  /** Path of a part: `node`, `feeder`, `gateway`, `log/<name>.log`. */
  part(name: string): string {
    return join(this.path, name)
  }

  /** The tokens of this folder, made at the first call. Throws where a gateway's state has lost its own. */
  secrets(): Secrets {
    const path = this.part('secrets.json')
    const kept = readJson(path, Secrets)
    if (kept === 'damaged') throw secretsLost(path, kept, this.reset)
    if (kept) return kept
    if (existsSync(this.part('gateway'))) throw secretsLost(path, 'missing', this.reset)
    const token = () => randomBytes(24).toString('hex')
    const made = { ADMIN_TOKEN: token(), FEED_TOKEN: token(), KEY_SECRET: token(), key: null }
    this.keepSecrets(made)
    return made
  }

  keepSecrets(secrets: Secrets): void {
    writeWhole(this.part('secrets.json'), JSON.stringify(secrets))
  }

  /** Ports of the last start, null where there was none. A damaged file is as good as none: other ports do as well. */
  ports(): Ports | null {
    const kept = readJson(this.part('ports.json'), Ports)
    return kept === 'damaged' ? null : kept
  }

  keepPorts(ports: Ports): void {
    writeWhole(this.part('ports.json'), JSON.stringify(ports))
  }

  /** Who runs on the folder; where it is damaged, nobody knows. */
  lock(): Lock | 'damaged' | null {
    return readJson(this.part('lock.json'), Lock)
  }

  keepLock(lock: Lock): void {
    writeWhole(this.part('lock.json'), JSON.stringify(lock))
  }

  unlock(): void {
    rmSync(this.part('lock.json'), { force: true })
  }
}

/** Replaces a file at once, mode 0600: a reader sees the old text or the new one. */
export function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`
  try {
    writeFileSync(fresh, text, { mode: 0o600, flush: true })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

/** Level by level: `recursive` of Node never returns below `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path)
}

/** Null: there is none. */
function readJson<T>(path: string, schema: z.ZodType<T>): T | 'damaged' | null {
  if (!existsSync(path)) return null
  const text = readFileSync(path, 'utf8')
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return 'damaged'
  }
}
