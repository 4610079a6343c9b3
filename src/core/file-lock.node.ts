// A lock that ends with the process that holds it, even if that is killed: an exclusive transaction on a SQLite file.

import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

/** Null if another process holds the lock. Closing the result releases it. Throws the error of SQLite if the file is unusable. */
export function lockFile(path: string, patienceMs: number): DatabaseSync | null {
  const lock = new DatabaseSync(path, { timeout: patienceMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null
    throw error
  }
}
