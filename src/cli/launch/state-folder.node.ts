// The state folder of a launcher: what lies where in it, its secrets, ports and lock, and whether its databases are whole: an
// object on a damaged one never answers.
// Files that hold secrets have mode 0600 in a folder of 0700, and every file is replaced whole, never written in place.

import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { LaunchError, PROBLEMS } from './messages.ts'

const Secrets = z.object({
  ADMIN_TOKEN: z.string().min(32),
  FEED_TOKEN: z.string().min(32),
  KEY_SECRET: z.string().min(32),
  /** The demo key; null until the gateway has made it. */
  key: z.string().nullable(),
  /** The same, for the console. */
  serviceKey: z.string().nullable(),
})
export type Secrets = z.infer<typeof Secrets>

const Port = z.int().min(1).max(65_535)
const Ports = z.object({ gateway: Port, devnet: Port })
export type Ports = z.infer<typeof Ports>

/** Pids: who runs on the folder, and what of it must not outlive it. */
const Lock = z.object({ launcher: z.int().min(1), children: z.record(z.string(), z.int().min(1)) })
type Lock = z.infer<typeof Lock>

/** With what tells that a folder of this name is ours. */
const FOLDERS = {
  node: ['devnet'],
  feeder: ['books.checkpoint', 'snapshots'],
  gateway: ['v3', 'migrated'],
  log: ['devnet.log', 'gateway.log', 'feeder.log'],
} as const
const FILES = ['secrets.json', 'ports.json', 'lock.json', 'dev.json'] as const
const STICKY = 0o1000
/** A launcher whose npm was killed takes a moment to end. */
const ACQUIRE_MS = 2_000
/** Writes will soon fail. */
const LOW_BYTES = 50e6
/** Beside the keys that were made with it: its hash, by which another one is told. */
const KEY_SECRET_NOTE = 'gateway/key-secret.sha256'

export class StateFolder {
  readonly path: string
  /** The command that forgets this folder. */
  readonly reset: string
  /** SQLite's lock of a file ends with the process that has it. */
  #claim: DatabaseSync | null = null

  constructor(path: string, reset = 'npm start -- --reset') {
    this.path = path
    this.reset = reset
  }

  /**
   * Makes the folder; throws what the system says where it cannot be written, and a Refusal where somebody else's
   * folders have the names of ours: `forget` would take them.
   */
  prepare(): void {
    const isOurs = FILES.some((name) => existsSync(this.pathOf(name)))
    const foreign = Object.entries(FOLDERS).find(([name, marks]) => !isOurs && isForeign(this.pathOf(name), marks))
    if (foreign !== undefined) throw new LaunchError(PROBLEMS.foreignFolder(this.pathOf(foreign[0])))
    makeFolder(join(this.path, 'log'))
    // Databases and logs are made by others, with modes of their own. A folder such as /tmp must stay everybody's, and one of
    // somebody else's can only stay as it is.
    const { mode, uid } = statSync(this.path)
    if ((mode & STICKY) === 0 && uid === process.getuid?.()) chmodSync(this.path, 0o700)
    writeAtomically(join(this.path, '.writable'), '')
    rmSync(join(this.path, '.writable'))
  }

  /** Forgets everything that a launcher puts here, and nothing else that may lie in the folder. */
  clear(): void {
    for (const name of [...Object.keys(FOLDERS), ...FILES]) rmSync(this.pathOf(name), { recursive: true, force: true })
  }

  /** Holds the folder until `release`, or until this process ends in any way. Throws a Refusal that names who holds it. */
  acquire(patienceMs = ACQUIRE_MS): void {
    this.#claim = new DatabaseSync(this.pathOf('claim.sqlite'), { timeout: patienceMs })
    try {
      this.#claim.exec('BEGIN EXCLUSIVE')
    } catch {
      this.release()
      throw new LaunchError(PROBLEMS.alreadyRuns(this.path, this.readLock()?.launcher))
    }
  }

  /** Whether a launcher has it. */
  isLocked(): boolean {
    if (!existsSync(this.pathOf('claim.sqlite'))) return false
    try {
      this.acquire(0)
    } catch (error) {
      if (error instanceof LaunchError) return true
      throw error
    }
    this.release()
    return false
  }

  release(): void {
    this.#claim?.close()
    this.#claim = null
  }

  /** Whether so little room is left that writes will soon fail. Every process of a launch writes; the launcher says why. */
  isDiskFull(): boolean {
    const { blocks, bavail, bsize } = statfsSync(this.path)
    // Some file systems do not tell.
    return blocks > 0 && bavail * bsize < LOW_BYTES
  }

  /** Path of a part: `node`, `feeder`, `gateway`, `log/<name>.log`. */
  pathOf(name: string): string {
    return join(this.path, name)
  }

  /** The tokens of this folder, null before the first start. Throws where they are not those of its gateway's state. */
  readSecrets(): Secrets | null {
    const path = this.pathOf('secrets.json')
    const kept = readJson(path, Secrets)
    if (kept === 'damaged') throw new LaunchError(PROBLEMS.secretsLost(path, kept, this.reset))
    if (kept === null && existsSync(this.pathOf('gateway')))
      throw new LaunchError(PROBLEMS.secretsLost(path, 'missing', this.reset))
    const note = this.pathOf(KEY_SECRET_NOTE)
    if (kept && existsSync(note) && readFileSync(note, 'utf8') !== digest(kept.KEY_SECRET))
      throw new LaunchError(PROBLEMS.keySecretChanged(path, this.reset))
    return kept
  }

  /** The same, made at the first call. */
  ensureSecrets(): Secrets {
    const kept = this.readSecrets()
    if (kept) return kept
    const token = () => randomBytes(24).toString('hex')
    const made = { ADMIN_TOKEN: token(), FEED_TOKEN: token(), KEY_SECRET: token(), key: null, serviceKey: null }
    this.writeSecrets(made)
    return made
  }

  writeSecrets(secrets: Secrets): void {
    writeAtomically(this.pathOf('secrets.json'), JSON.stringify(secrets))
    if (secrets.key === null) return
    makeFolder(this.pathOf('gateway'))
    writeAtomically(this.pathOf(KEY_SECRET_NOTE), digest(secrets.KEY_SECRET))
  }

  /** Ports of the last start, null where there was none. A damaged file is as good as none: other ports do as well. */
  readPorts(): Ports | null {
    const kept = readJson(this.pathOf('ports.json'), Ports)
    return kept === 'damaged' ? null : kept
  }

  writePorts(ports: Ports): void {
    writeAtomically(this.pathOf('ports.json'), JSON.stringify(ports))
  }

  /** Files of ours that are there and are not, or cannot be read as, what they should be. */
  damagedFiles(): string[] {
    const schemas = { 'secrets.json': Secrets, 'ports.json': Ports }
    return Object.entries(schemas).flatMap(([name, schema]) => (isDamaged(this.pathOf(name), schema) ? [name] : []))
  }

  /** What the last launcher noted; null where it ended in good order. */
  readLock(): Lock | null {
    const lock = readJson(this.pathOf('lock.json'), Lock)
    return lock === 'damaged' ? null : lock
  }

  writeLock(lock: Lock): void {
    writeAtomically(this.pathOf('lock.json'), JSON.stringify(lock))
  }

  removeLock(): void {
    rmSync(this.pathOf('lock.json'), { force: true })
    this.release()
  }
}

/** Replaces a file at once, mode 0600: a reader sees the old text or the new one. */
export function writeAtomically(path: string, text: string): void {
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

function isForeign(path: string, marks: readonly string[]): boolean {
  if (!existsSync(path)) return false
  const names = statSync(path).isDirectory() ? readdirSync(path) : ['']
  return names.length > 0 && !names.some((name) => marks.includes(name))
}

/** Whether a file is there and is not, or cannot be read as, what it should be. */
export function isDamaged(path: string, schema: z.ZodType): boolean {
  try {
    return readJson(path, schema) === 'damaged'
  } catch {
    return true
  }
}

/** Null: there is none. */
function readJson<T>(path: string, schema: z.ZodType<T>): T | 'damaged' | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const read = schema.safeParse(parseJson(text))
  return read.success ? read.data : 'damaged'
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A larger one is opened and not read: 64 MB take a tenth of a second, and an object of a demo has less. */
const READ_MAX_BYTES = 64 * 1024 * 1024

/**
 * Throws a Refusal for those that are gone and for the first that is damaged; `reset` is its command to begin afresh, and
 * `hasKeys` tells that keys were made here. Nobody else may have them open.
 */
export function checkDatabases(folder: string, reset: string, hasKeys: boolean): void {
  // Migrations were applied to a database, and a key has an account, which has a meter. Without theirs the gateway would
  // begin with nothing and say nothing.
  const needed = [
    { part: 'd1', was: hasKeys || existsSync(join(folder, 'migrated')) },
    { part: 'do/weir-live-CreditMeter', was: hasKeys },
  ]
  for (const { part, was } of needed) {
    const path = join(folder, 'v3', part)
    if (was && !globSync('**/*.sqlite', { cwd: path }).some(isObjectDatabase))
      throw new LaunchError(PROBLEMS.databasesMissing(path, reset))
  }
  for (const name of globSync('**/*.sqlite', { cwd: folder }).sort()) {
    const path = join(folder, name)
    const why = isEmptied(folder, path) ? 'it is empty' : databaseDamage(path)
    if (why !== null) throw new LaunchError(PROBLEMS.databaseDamaged(path, why, reset))
  }
}

/** SQLite takes a file without a byte for a new database; that of the accounts has had its tables since the first start. */
function isEmptied(folder: string, path: string): boolean {
  return path.startsWith(join(folder, 'v3/d1/')) && existsSync(join(folder, 'migrated')) && statSync(path).size === 0
}

/** Miniflare's own database of names stands beside those of the objects. */
const isObjectDatabase = (name: string) => !name.endsWith('metadata.sqlite')

function databaseDamage(path: string): string | null {
  const question = statSync(path).size > READ_MAX_BYTES ? 'PRAGMA schema_version' : 'PRAGMA quick_check(1)'
  try {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      const { quick_check: said = 'ok' } = database.prepare(question).get() as { quick_check?: string }
      return said === 'ok' ? null : said.replaceAll('\n', ' ')
    } finally {
      database.close()
    }
  } catch (error) {
    return (error as Error).message
  }
}
