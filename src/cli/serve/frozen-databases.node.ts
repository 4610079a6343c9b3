// Read snapshots of many SQLite databases at one moment, while another process writes to them. The writer is stopped for as
// long as it takes to open the snapshots. Invariant: it runs on after a second, even if this process is killed.

import { spawn } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** `list` is called while the writers are stopped, because they create databases. Rejects with the error of SQLite. */
export async function freezeDatabases(
  writers: readonly number[],
  list: () => readonly string[],
): Promise<FrozenDatabases> {
  for (let attempt = 1; ; attempt++) {
    const opened: FrozenDatabase[] = []
    const guard = resumeLater(writers)
    const startMs = performance.now()
    try {
      for (const pid of writers) process.kill(pid, 'SIGSTOP')
      const atMs = Date.now()
      for (const path of list()) opened.push({ path, database: snapshotOf(path) })
      return { atMs, databases: opened, stoppedMs: performance.now() - startMs }
    } catch (error) {
      for (const { database } of opened) database.close()
      const isBusy = /busy|locked/i.test((error as Error).message)
      if (!isBusy || attempt === ATTEMPTS) throw error
    } finally {
      for (const pid of writers) process.kill(pid, 'SIGCONT')
      guard.kill()
    }
    await sleep(RETRY_MS)
  }
}

function resumeLater(pids: readonly number[]) {
  const command = `sleep ${RESUME_AFTER_S}; kill -CONT ${pids.join(' ')}`
  return spawn('sh', ['-c', pids.length === 0 ? 'exit' : command], { detached: true, stdio: 'ignore' })
}

/** The first read fixes what the transaction sees. */
function snapshotOf(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true })
  database.exec('BEGIN')
  database.prepare('SELECT count(*) FROM sqlite_master').get()
  return database
}
