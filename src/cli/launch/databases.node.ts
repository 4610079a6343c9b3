// The databases of a gateway's state, looked through before workerd opens them: an object on a damaged one never answers.

import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { databaseDamaged, databasesMissing } from './repair.ts'

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
    if (was && !globSync('**/*.sqlite', { cwd: path }).some(isOfObject)) throw databasesMissing(path, reset)
  }
  for (const name of globSync('**/*.sqlite', { cwd: folder }).sort()) {
    const path = join(folder, name)
    const why = isEmptied(folder, path) ? 'it is empty' : damage(path)
    if (why !== null) throw databaseDamaged(path, why, reset)
  }
}

/** SQLite takes a file without a byte for a new database; that of the accounts has had its tables since the first start. */
function isEmptied(folder: string, path: string): boolean {
  return path.startsWith(join(folder, 'v3/d1/')) && existsSync(join(folder, 'migrated')) && statSync(path).size === 0
}

/** Miniflare's own database of names stands beside those of the objects. */
const isOfObject = (name: string) => !name.endsWith('metadata.sqlite')

function damage(path: string): string | null {
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
