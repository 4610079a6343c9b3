// `weir backup DIR`: a snapshot of a state folder of `weir serve`, also while it runs. Invariants: all databases are of one
// moment, as after a power cut, which every part of Weir recovers from; only a complete snapshot has its final name.

import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { backup as copyDatabase, type DatabaseSync } from 'node:sqlite'
import { type AnyCommand, valueParser } from '../../core/command-line.node.ts'
import { parseJson } from '../../core/json.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { LaunchError } from '../launch/messages.ts'
import { processInfo } from '../launch/processes.node.ts'
import { DEFAULT_STATE } from '../running-file.node.ts'
import { type Shell, weirProgram } from '../shell.node.ts'
import { WEIR_VERSION } from '../version.node.ts'
import { type BackupManifest, type FileFacts, parseManifest, SNAPSHOT_NAME, snapshotName } from './backup-manifest.ts'
import { freezeDatabases } from './frozen-databases.node.ts'
import { ServeFolder } from './serve-folder.node.ts'

const STORES = 'gateway/v3'
/** Limits and caches are left out, because they need no history. */
const KINDS = ['d1', 'do', 'kv', 'r2']
/** Small files of a state folder that are part of its backup. */
const FILES = ['secrets.json', 'folder.json', 'gateway/migrated', 'gateway/key-secret.sha256']
const MANIFEST = 'manifest.json'
const PARTIAL = '.partial'
export const POOL = 'blobs'
/** Objects can be deleted between the snapshot of their index and the copy. */
const ATTEMPTS = 3

export function backupProgram(shell: Shell): AnyCommand {
  return weirProgram('backup', ['/backups/weir --state /var/lib/weir --keep 14'])
    .argument('<folder>', 'folder of all backups of this gateway; a blob that it has is not copied again')
    .option('--state <dir>', 'state folder', DEFAULT_STATE)
    .option('--keep <n>', 'delete all but the newest backups', valueParser(wholeNumber(1, 10_000)))
    .action(async (folder, { state, keep }) => {
      process.umask(0o077)
      try {
        const { name, manifest, stoppedMs } = await backUp(resolve(state), resolve(folder), keep)
        shell.print(join(folder, name))
        const files = Object.keys(manifest.files).length
        shell.note(
          `${files} files and ${Object.keys(manifest.blobs).length} blobs. The gateway was stopped for ${Math.ceil(stoppedMs)} ms.`,
        )
      } catch (error) {
        shell.note(backupError(error, folder))
        shell.fail()
      }
    })
}

interface Backup {
  readonly name: string
  readonly manifest: BackupManifest
  readonly stoppedMs: number
}

/**
 * `keep`: number of backups that stay; omitted: all. Rejects with a LaunchError or a system error. A failed attempt leaves no
 * snapshot.
 */
export async function backUp(state: string, folder: string, keep?: number): Promise<Backup> {
  const served = new ServeFolder(state)
  if (served.readMark() === null)
    throw new LaunchError(`${state} is not a state folder of "npx weir serve". Name it with --state.`)
  if (`${folder}/`.startsWith(`${state}/`))
    throw new LaunchError(
      `${folder} is in the state folder ${state}. Choose a folder outside, and better on another disk.`,
    )
  const lock = served.lockBackups()
  try {
    makePool(folder)
    const backup = await backUpLocked(served, folder)
    if (keep !== undefined) prune(folder, keep)
    return backup
  } finally {
    lock.close()
  }
}

async function backUpLocked(served: ServeFolder, folder: string): Promise<Backup> {
  const isRunning = served.isLocked()
  if (!isRunning) served.acquire()
  try {
    for (let attempt = 1; ; attempt++) {
      const made = await tryBackup(served.path, folder, isRunning ? writersOf(served) : [])
      if (made !== null) return made
      if (attempt === ATTEMPTS)
        throw new LaunchError('The archive deletes objects faster than they are copied. Try again.')
    }
  } finally {
    served.release()
  }
}

/** Creates the folder of all backups, or deletes what an interrupted backup left there. */
function makePool(folder: string): void {
  mkdirSync(join(folder, POOL), { recursive: true, mode: 0o700 })
  const isPartial = (name: string) => name.endsWith(PARTIAL) && SNAPSHOT_NAME.test(name.slice(0, -PARTIAL.length))
  for (const name of readdirSync(folder).filter(isPartial)) rmSync(join(folder, name), { recursive: true })
}

/** The processes that write to the databases. */
function writersOf(served: ServeFolder): number[] {
  const pids = Object.entries(served.readLock()?.children ?? {}).flatMap(([name, pid]) =>
    name.startsWith('workerd') ? [pid] : [],
  )
  const alive = pids.filter((pid) => processInfo(pid)?.command.includes('workerd'))
  if (alive.length === 0)
    throw new LaunchError(
      'The gateway is just starting or ending, or runs in another container. Try again in some seconds, or in its container.',
    )
  return alive
}

/** Null if a blob was deleted meanwhile. */
async function tryBackup(state: string, folder: string, writers: readonly number[]): Promise<Backup | null> {
  const { atMs, databases, stoppedMs } = await freezeDatabases(writers, () => databasesOf(join(state, STORES)))
  const name = snapshotName(atMs)
  const partial = join(folder, `${name}${PARTIAL}`)
  try {
    const files: Record<string, FileFacts> = {}
    for (const path of FILES.filter((path) => existsSync(join(state, path)))) {
      copyDurably(join(state, path), join(partial, path))
      files[path] = await factsOf(join(partial, path))
    }
    const known = newestManifest(folder)?.manifest.blobs ?? {}
    const blobs: Record<string, FileFacts> = {}
    for (const { path, database } of databases) {
      const inState = relative(state, path)
      const target = join(partial, inState)
      mkdirSync(dirname(target), { recursive: true })
      await copyDatabase(database, target)
      syncFile(target)
      files[inState] = await factsOf(target)
      for (const blob of blobsOf(database, inState, state)) {
        const facts = await copyBlob(join(state, blob), join(folder, POOL, blob), known[blob])
        if (facts === null) return null
        blobs[blob] = facts
      }
    }
    const manifest = { version: WEIR_VERSION, atMs, files, blobs }
    writeFileSync(join(partial, MANIFEST), JSON.stringify(manifest), { flush: true, mode: 0o600 })
    renameSync(partial, join(folder, name))
    syncFile(folder)
    return { name, manifest, stoppedMs }
  } finally {
    for (const { database } of databases) database.close()
    rmSync(partial, { recursive: true, force: true })
  }
}

/** Each object and each store has a database in the folder of its class. The gateway is stopped meanwhile, so `**` is too slow. */
function databasesOf(stores: string): string[] {
  const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])
  return KINDS.flatMap((kind) => namesIn(join(stores, kind)).map((name) => join(stores, kind, name))).flatMap(
    (folder) => namesIn(folder).flatMap((name) => (name.endsWith('.sqlite') ? [join(folder, name)] : [])),
  )
}

/** Tables in which the stores of miniflare name their blobs. */
const BLOB_TABLES = ['_mf_objects', '_mf_multipart_parts', '_mf_entries']

/** Paths of the blobs that a database names, in the state folder. */
function blobsOf(database: DatabaseSync, path: string, state: string): string[] {
  const [, kind] = /^gateway\/v3\/(r2|kv)\//.exec(path) ?? []
  if (kind === undefined) return []
  const tables = database
    .prepare('SELECT name FROM sqlite_master')
    .all()
    .map(({ name }) => String(name))
  const ids = BLOB_TABLES.filter((table) => tables.includes(table)).flatMap((table) =>
    database
      .prepare(`SELECT DISTINCT blob_id FROM ${table} WHERE blob_id IS NOT NULL`)
      .all()
      .map((row) => String(row.blob_id)),
  )
  const places = readdirSync(join(state, STORES, kind))
    .map((bucket) => `${STORES}/${kind}/${bucket}/blobs`)
    .filter((place) => existsSync(join(state, place)))
  return ids.map((id) => {
    const place = places.find((one) => existsSync(join(state, one, id))) ?? places[0]
    return `${place}/${id}`
  })
}

/** Blobs never change, so one of the same size is the same. Null if it does not exist any more. */
async function copyBlob(from: string, to: string, known: FileFacts | undefined): Promise<FileFacts | null> {
  if (known !== undefined && statSync(to, { throwIfNoEntry: false })?.size === known.bytes) return known
  try {
    copyDurably(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(from)) return null
    throw error
  }
  return factsOf(to)
}

export function copyDurably(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  syncFile(to)
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export async function factsOf(path: string): Promise<FileFacts> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of createReadStream(path)) {
    hash.update(piece)
    bytes += piece.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

interface Snapshot {
  readonly path: string
  readonly manifest: BackupManifest
}

/** The snapshots of a folder of backups, the newest first. Those without a valid manifest are left out. */
export function snapshotsOf(folder: string): Snapshot[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => SNAPSHOT_NAME.test(name)) : []
  return names
    .sort()
    .reverse()
    .flatMap((name) => {
      const manifest = readManifest(join(folder, name))
      return manifest === null ? [] : [{ path: join(folder, name), manifest }]
    })
}

const newestManifest = (folder: string): Snapshot | undefined => snapshotsOf(folder)[0]

/** Null if there is none, or it is damaged. */
export function readManifest(snapshot: string): BackupManifest | null {
  const path = join(snapshot, MANIFEST)
  return existsSync(path) ? parseManifest(parseJson(readFileSync(path, 'utf8'))) : null
}

/** Deletes old snapshots, then the blobs that no snapshot names. */
function prune(folder: string, keep: number): void {
  const snapshots = snapshotsOf(folder)
  for (const { path } of snapshots.slice(keep)) rmSync(path, { recursive: true })
  const named = new Set(snapshots.slice(0, keep).flatMap(({ manifest }) => Object.keys(manifest.blobs)))
  for (const blob of globSync('**/blobs/*', { cwd: join(folder, POOL) }))
    if (!named.has(blob)) rmSync(join(folder, POOL, blob), { force: true })
}

function backupError(error: unknown, folder: string): string {
  if (error instanceof LaunchError) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return `The disk of ${folder} is full. No backup was made.`
  if (code === 'EPERM')
    return 'The gateway belongs to another user. Run this command as the user that runs "npx weir serve".'
  if (code === undefined) throw error
  return `No backup was made: ${message}.`
}
