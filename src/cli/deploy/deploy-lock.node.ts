// The lock of a folder: two deploys at once would invent two sets of secrets, and would overwrite each other's files. SQLite
// holds it, because the system releases a lock of SQLite when its process ends in any way.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DeployError } from './deploy-error.ts'

/** Returns a function that releases the lock. Throws a DeployError if another process has it. */
export function lockDeploys(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock.sqlite'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!/locked/.test((error as Error).message)) throw error
    throw new DeployError('Another "weir deploy" runs in this folder. Wait until it has ended.')
  }
  return () => lock.close()
}
