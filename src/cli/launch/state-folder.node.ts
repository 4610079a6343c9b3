// Manages the state folder of a launcher: its layout, secrets, ports and lock. It also checks the databases, because an
// object never responds if its database is damaged. Secrets are in files of mode 0600 in a folder of mode 0700. Files
// are replaced atomically.

import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { writeAtomically } from '../../core/atomic-file.node.ts'
import { lockFile } from '../../core/file-lock.node.ts'
import { parseJson } from '../../core/json.ts'
import { freshStart, LaunchError, PROBLEMS } from './messages.ts'

function randomToken(): string {
  return randomBytes(24).toString('hex')
}

const Secrets = z.object({
  ADMIN_TOKEN: z.string().min(32),
  FEED_TOKEN: z.string().min(32),
  /** Absent in a folder of an older version until its next start. */
  METRICS_TOKEN: z.string().min(32).default(randomToken),
  KEY_SECRET: z.string().min(32),
  /** The demo key; null until the gateway has created it. */
  key: z.string().nullable(),
  /** The service key of the same account, for the console. */
  serviceKey: z.string().nullable(),
})
export type Secrets = z.infer<typeof Secrets>

const Port = z.int().min(1).max(65_535)
const Ports = z.object({ gateway: Port, devnet: Port })
export type Ports = z.infer<typeof Ports>

/** Pids of the launcher and of the children that must not outlive it. */
const Lock = z.object({ launcher: z.int().min(1), children: z.record(z.string(), z.int().min(1)) })
type Lock = z.infer<typeof Lock>

/** Subfolders, with files that show that they belong to Weir. */
const FOLDERS = {
  node: ['devnet'],
  feeder: ['books.checkpoint', 'snapshots'],
  gateway: ['v3', 'migrated'],
  log: ['devnet.log', 'gateway.log', 'feeder.log'],
} as const
const FILES = ['secrets.json', 'ports.json', 'lock.json', 'running.json'] as const
const STICKY = 0o1000
/** A launcher whose npm was killed needs a moment to end. */
const ACQUIRE_MS = 2_000
/** Free space below which writes will soon fail. */
const LOW_BYTES = 50e6
/** Hash of KEY_SECRET, stored next to its keys, to detect a different secret. */
const KEY_SECRET_NOTE = 'gateway/key-secret.sha256'

export class StateFolder {
  readonly path: string
  /** The remedy for lost state without a copy. */
  readonly remedy: string
  #claim: DatabaseSync | null = null

  constructor(path: string, remedy = freshStart('npx weir demo --reset')) {
    this.path = path
    this.remedy = remedy
  }

  /**
   * Creates the folder. Throws the system error if it cannot be written, and a LaunchError if it has foreign subfolders with our
   * names, which `clear` would delete.
   */
  prepare(): void {
    const isOurs = FILES.some((name) => existsSync(this.pathOf(name)))
    const foreign = Object.entries(FOLDERS).find(([name, marks]) => !isOurs && isForeign(this.pathOf(name), marks))
    if (foreign !== undefined) throw new LaunchError(PROBLEMS.foreignFolder(this.pathOf(foreign[0])))
    const isNew = !existsSync(this.path) || readdirSync(this.path).length === 0
    makeFolder(join(this.path, 'log'))
    // A folder that had content, such as /etc, a shared one such as /tmp, and that of another user keep their mode. There, the
    // umask of the launcher protects databases and logs.
    const { mode, uid } = statSync(this.path)
    if (isNew && (mode & STICKY) === 0 && uid === process.getuid?.()) chmodSync(this.path, 0o700)
    writeAtomically(join(this.path, '.writable'), '')
    rmSync(join(this.path, '.writable'))
  }

  /** Deletes everything that a launcher creates here, and nothing else. */
  clear(): void {
    for (const name of [...Object.keys(FOLDERS), ...FILES]) rmSync(this.pathOf(name), { recursive: true, force: true })
  }

  /** Locks the folder until `release` or the end of this process. Throws a LaunchError that names the holder. */
  acquire(patienceMs = ACQUIRE_MS): void {
    this.#claim = lockFile(this.pathOf('claim.sqlite'), patienceMs)
    if (this.#claim === null) throw new LaunchError(PROBLEMS.alreadyRuns(this.path, this.readLock()?.launcher))
  }

  /** Whether a launcher holds the lock. */
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

  /** Whether so little space is left that writes will soon fail. */
  isDiskFull(): boolean {
    const { blocks, bavail, bsize } = statfsSync(this.path)
    // Some file systems report no sizes.
    return blocks > 0 && bavail * bsize < LOW_BYTES
  }

  /** Path of a part: `node`, `feeder`, `gateway`, `log/<name>.log`. */
  pathOf(name: string): string {
    return join(this.path, name)
  }

  /** The secrets of this folder, null before the first start. Throws if they do not match the state of its gateway. */
  readSecrets(): Secrets | null {
    const path = this.pathOf('secrets.json')
    const stored = readJson(path, Secrets)
    if (stored === 'damaged') throw new LaunchError(PROBLEMS.secretsLost(path, stored, this.remedy))
    if (stored === null && existsSync(this.pathOf('gateway')))
      throw new LaunchError(PROBLEMS.secretsLost(path, 'missing', this.remedy))
    const note = this.pathOf(KEY_SECRET_NOTE)
    if (stored && existsSync(note) && readFileSync(note, 'utf8') !== digest(stored.KEY_SECRET))
      throw new LaunchError(PROBLEMS.keySecretChanged(path, this.remedy))
    return stored
  }

  /** The secrets, created on the first call. */
  ensureSecrets(): Secrets {
    const tokens = { ADMIN_TOKEN: randomToken(), FEED_TOKEN: randomToken(), METRICS_TOKEN: randomToken() }
    const secrets = this.readSecrets() ?? { ...tokens, KEY_SECRET: randomToken(), key: null, serviceKey: null }
    this.writeSecrets(secrets)
    return secrets
  }

  writeSecrets(secrets: Secrets): void {
    writeAtomically(this.pathOf('secrets.json'), JSON.stringify(secrets))
    if (secrets.key === null) return
    makeFolder(this.pathOf('gateway'))
    writeAtomically(this.pathOf(KEY_SECRET_NOTE), digest(secrets.KEY_SECRET))
  }

  /** Ports of the last start, or null. A damaged file counts as missing, because any other ports work as well. */
  readPorts(): Ports | null {
    const stored = readJson(this.pathOf('ports.json'), Ports)
    return stored === 'damaged' ? null : stored
  }

  writePorts(ports: Ports): void {
    writeAtomically(this.pathOf('ports.json'), JSON.stringify(ports))
  }

  /** Our files that exist but are invalid or unreadable. */
  damagedFiles(): string[] {
    const schemas = { 'secrets.json': Secrets, 'ports.json': Ports }
    return Object.entries(schemas).flatMap(([name, schema]) => (isDamaged(this.pathOf(name), schema) ? [name] : []))
  }

  /** The lock of the last launcher; null if it ended normally. */
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

/** Creates the folders level by level, because Node's `recursive` option never returns below `/proc`. */
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

/** Whether a file exists but is invalid or unreadable. */
export function isDamaged(path: string, schema: z.ZodType): boolean {
  try {
    return readJson(path, schema) === 'damaged'
  } catch {
    return true
  }
}

/** Null if the file does not exist. */
export function readJson<T>(path: string, schema: z.ZodType<T>): T | 'damaged' | null {
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

/** Larger databases are only opened, not checked: 64 MB take 0.1 s, and demo objects are smaller. */
const READ_MAX_BYTES = 64 * 1024 * 1024

/**
 * Throws a LaunchError for missing databases and for the first damaged one. `remedy`: what to do without a copy; `hasKeys` says
 * that keys were created here. No other process may have the databases open.
 */
export function checkDatabases(folder: string, remedy: string, hasKeys: boolean): void {
  // Applied migrations imply a database, and a key implies an account with a meter. Otherwise, the gateway would
  // silently start empty.
  const needed = [
    { part: 'd1', was: hasKeys || existsSync(join(folder, 'migrated')) },
    { part: 'do/weir-live-CreditMeter', was: hasKeys },
  ]
  for (const { part, was } of needed) {
    const path = join(folder, 'v3', part)
    if (was && !globSync('**/*.sqlite', { cwd: path }).some(isObjectDatabase))
      throw new LaunchError(PROBLEMS.databasesMissing(path, remedy))
  }
  for (const name of globSync('**/*.sqlite', { cwd: folder }).sort()) {
    const path = join(folder, name)
    const why = isEmptied(folder, path) ? 'it is empty' : databaseDamage(path)
    if (why !== null) throw new LaunchError(PROBLEMS.databaseDamaged(path, why, remedy))
  }
}

/** SQLite treats an empty file as a new database, but the accounts database has had tables since the first start. */
function isEmptied(folder: string, path: string): boolean {
  return path.startsWith(join(folder, 'v3/d1/')) && existsSync(join(folder, 'migrated')) && statSync(path).size === 0
}

/** Miniflare stores a database of names next to the databases of objects. */
const isObjectDatabase = (name: string) => !name.endsWith('metadata.sqlite')

function databaseDamage(path: string): string | null {
  const question = statSync(path).size > READ_MAX_BYTES ? 'PRAGMA schema_version' : 'PRAGMA quick_check(1)'
  try {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      const { quick_check: result = 'ok' } = database.prepare(question).get() as { quick_check?: string }
      return result === 'ok' ? null : result.replaceAll('\n', ' ')
    } finally {
      database.close()
    }
  } catch (error) {
    return (error as Error).message
  }
}
