// The state folder of a launcher: what lies where in it, its secrets, ports and lock.
// Files that hold secrets have mode 0600, and every file is replaced whole, never written in place.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { Lock } from './leftovers.ts'

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

  constructor(path: string) {
    this.path = path
  }

  /** Makes the folder; throws what the system says where it cannot be written. */
  prepare(): void {
    makeFolder(join(this.path, 'log'))
    writeWhole(join(this.path, '.writable'), '')
    rmSync(join(this.path, '.writable'))
  }

  /** Forgets everything that a launcher puts here, and nothing else that may lie in the folder. */
  reset(): void {
    for (const name of ['node', 'feeder', 'gateway', 'log', 'secrets.json', 'ports.json', 'lock.json', 'dev.json'])
      rmSync(join(this.path, name), { recursive: true, force: true })
  }

  /** Path of a part: `node`, `feeder`, `gateway`, `log/<name>.log`. */
  part(name: string): string {
    return join(this.path, name)
  }

  /** The tokens of this folder, made at the first call. */
  secrets(): Secrets {
    const kept = readJson(this.part('secrets.json'), Secrets)
    if (kept) return kept
    const token = () => randomBytes(24).toString('hex')
    const made = { ADMIN_TOKEN: token(), FEED_TOKEN: token(), KEY_SECRET: token(), key: null }
    this.keepSecrets(made)
    return made
  }

  keepSecrets(secrets: Secrets): void {
    writeWhole(this.part('secrets.json'), JSON.stringify(secrets))
  }

  /** Ports of the last start, null where there was none. */
  ports(): Ports | null {
    return readJson(this.part('ports.json'), Ports)
  }

  keepPorts(ports: Ports): void {
    writeWhole(this.part('ports.json'), JSON.stringify(ports))
  }

  lock(): Lock | null {
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
  writeFileSync(fresh, text, { mode: 0o600 })
  renameSync(fresh, path)
}

/** Level by level: `recursive` of Node never returns below `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path)
}

function readJson<T>(path: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}
