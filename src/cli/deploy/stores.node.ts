// Creates the stores and tables of a gateway. Invariants: a store's id is in weir.toml before the next store is created; what
// exists is used, so that the command can be repeated after it was interrupted at any point.

import { MIGRATIONS_TABLE } from '../../core/migrations-table.ts'
import { addSetting } from '../settings/settings-file.node.ts'
import type { WeirSettings } from '../settings/weir-settings.ts'
import { migrationsOf } from './account-facts.node.ts'
import type { CloudflareApi } from './cloudflare-api.node.ts'
import type { AccountFacts } from './deploy-checks.ts'
import { DeployError } from './deploy-error.ts'
import { locationOf } from './store-location.ts'
import { storesOf, storeText } from './stores.ts'
import type { WorkerFile } from './worker-file.ts'

export interface StoreWork {
  readonly api: CloudflareApi
  readonly account: string
  readonly folder: string
  readonly facts: AccountFacts
  readonly note: (line: string) => void
}

/** Creates the missing stores, and returns the settings with all ids. */
export async function createStores(
  { api, account, folder, facts, note }: StoreWork,
  settings: WeirSettings,
): Promise<WeirSettings> {
  let current = settings
  for (const store of storesOf(settings)) {
    const found = facts.stores[store.binding]
    const id = found?.state === 'there' ? found.id : await api.create(account, store, locationOf(settings))
    if (found?.state !== 'there') note(`Created ${storeText(store)}.`)
    if (store.setting === null || store.id !== undefined) continue
    const added = addSetting(folder, ['ids', store.setting], JSON.stringify(id))
    if (!added.ok) throw new DeployError(added.error)
    current = added.value
  }
  return current
}

/** Applies the migrations that a database lacks. Each is sent with its line of wrangler's own table. */
export async function migrate(
  { api, account, facts, note }: StoreWork,
  databases: WorkerFile['d1_databases'],
): Promise<void> {
  for (const database of databases) {
    const { binding, database_name: name, database_id: id = '' } = database
    const lacking = facts.lacking[binding] ?? []
    if (lacking.length === 0) continue
    const run = async (sql: string, what: string) => {
      const done = await api.query(account, id, sql)
      if (!done.ok)
        throw new DeployError(`${name}: ${what} failed: ${done.error}. Fix the cause and run the same command again.`)
    }
    await run(MIGRATIONS_TABLE, 'the table of migrations')
    for (const migration of migrationsOf(database).filter((one) => lacking.includes(one.name)))
      await run(
        `${migration.sql}\nINSERT INTO d1_migrations (name) VALUES ('${migration.name}');`,
        `the migration ${migration.name}`,
      )
    note(`Applied ${lacking.length} migrations to ${name}.`)
  }
}
