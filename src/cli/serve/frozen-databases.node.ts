// Read snapshots of many SQLite databases at one moment, while another process writes to them. The writer is stopped for as
// long as it takes to open the snapshots. Invariant: it runs on after a second, even if this process is killed.

import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { LaunchError } from '../launch/messages.ts'
import { isWhollyStopped } from '../launch/processes.node.ts'

interface FrozenDatabase {
  readonly path: string
  readonly database: DatabaseSync
}

export interface FrozenDatabases {
  /** The moment, Unix ms. */
  readonly atMs: number
  readonly databases: readonly FrozenDatabase[]
  /** Time for which the writer was stopped, ms. */
  readonly stoppedMs: number
}

/** A stopped writer may hold a lock, such as while it recovers a log. */
const ATTEMPTS = 20
const RETRY_MS = 50
const RESUME_AFTER_S = 1
const STOP_MS = 500
const BUSY_TEXT =
  'No backup was made: the gateway could not be stopped for a moment, because its disk is busy. Try again.'

/**
 * `list` is called again while the writers are stopped, because they create databases. Rejects with the error of SQLite, or
 * with a LaunchError if the writers ran on before all snapshots were open.
 */
export async function freezeDatabases(
  writers: readonly number[],
  list: () => readonly string[],
): Promise<FrozenDatabases> {
  for (let attempt = 1; ; attempt++) {
    const open = openAhead(list())
    const guard = resumeLater(writers)
    const startMs = performance.now()
    try {
      for (const pid of writers) process.kill(pid, 'SIGSTOP')
      untilStopped(writers)
      const atMs = Date.now()
      const databases = list().map((path) => ({ path, database: snapshotOf(path, open) }))
      if (!writers.every(isWhollyStopped)) throw new LaunchError(ranOnText(databases.length))
      closeAll(open, databases)
      return { atMs, databases, stoppedMs: performance.now() - startMs }
    } catch (error) {
      closeAll(open)
      const isBusy = /busy|locked/i.test((error as Error).message)
      if (!isBusy || attempt === ATTEMPTS) throw error
    } finally {
      for (const pid of writers) process.kill(pid, 'SIGCONT')
      guard.kill()
    }
    await sleep(RETRY_MS)
  }
}

/** A thread that syncs a file stops afterwards. Blocks, so that nothing else of this process delays the resumption. */
function untilStopped(pids: readonly number[]): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (const deadline = performance.now() + STOP_MS; !pids.every(isWhollyStopped); Atomics.wait(pause, 0, 0, 1))
    if (performance.now() > deadline) throw new LaunchError(BUSY_TEXT)
}

function resumeLater(pids: readonly number[]) {
  const command = `sleep ${RESUME_AFTER_S}; kill -CONT ${pids.join(' ')}`
  return spawn('sh', ['-c', pids.length === 0 ? 'exit' : command], { detached: true, stdio: 'ignore' })
}

const ranOnText = (count: number) =>
  `No backup was made: the gateway ran on before all ${count} databases were read. Try again without another backup at the same time, or stop the gateway first.`

/** Databases by their file, which another one of the same name can replace. */
type OpenDatabases = Map<string, DatabaseSync>
const fileKey = (path: string) => `${statSync(path).ino} ${path}`

/** Opening takes a hundred times as long as a snapshot of an open database, so it comes before the stop. */
function openAhead(paths: readonly string[]): OpenDatabases {
  const open: OpenDatabases = new Map()
  for (const path of paths)
    try {
      openDatabase(path, open)
    } catch {
      // It was deleted or is locked: if it is needed, it is opened during the stop.
    }
  return open
}

function openDatabase(path: string, open: OpenDatabases): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true })
  open.set(fileKey(path), database)
  read(database)
  return database
}

function closeAll(open: OpenDatabases, except: readonly FrozenDatabase[] = []): void {
  const kept = new Set(except.map(({ database }) => database))
  for (const database of open.values()) if (!kept.has(database)) database.close()
}

/** The first read fixes what the transaction sees. */
function snapshotOf(path: string, open: OpenDatabases): DatabaseSync {
  const database = open.get(fileKey(path)) ?? openDatabase(path, open)
  database.exec('BEGIN')
  read(database)
  return database
}

const read = (database: DatabaseSync) => database.prepare('SELECT count(*) FROM sqlite_master').get()
