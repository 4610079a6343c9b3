// Reads what an account has of a gateway, and changes nothing.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { WeirSettings } from '../settings/weir-settings.ts'
import type { CloudflareApi } from './cloudflare-api.node.ts'
import { SCHEMA_QUERY, SchemaRow, schemaFaults } from './d1-schema.node.ts'
import type { AccountFacts } from './deploy-checks.ts'
import type { WorkerFiles } from './effective-file.ts'
import { type Store, type StoreState, storesOf } from './stores.ts'
import type { WorkerFile } from './worker-file.ts'
import { ROLES } from './workers.ts'

const MIGRATIONS_TABLE = 'd1_migrations'
const Rows = z.array(SchemaRow)
const Applied = z.array(z.object({ name: z.string() }))

type Database = WorkerFile['d1_databases'][number]

export interface Migration {
  readonly name: string
  readonly sql: string
}

/** The migration files of a database, in order. */
export function migrationsOf({ migrations_dir: folder }: Pick<Database, 'migrations_dir'>): Migration[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sql')) : []
  return names.sort().map((name) => ({ name, sql: readFileSync(join(folder, name), 'utf8') }))
}

export async function readAccount(
  api: CloudflareApi,
  account: string,
  settings: WeirSettings,
  workers: WorkerFiles,
): Promise<AccountFacts> {
  const secretsOf = async (role: (typeof ROLES)[number]) =>
    [role, await api.secretNames(account, workers[role].name)] as const
  const [secrets, stores] = await Promise.all([
    Promise.all(ROLES.map(secretsOf)),
    readStores(api, account, storesOf(settings)),
  ])
  const states = Object.fromEntries(stores)
  const tables = await Promise.all(
    workers.gateway.d1_databases.map(async (database) => readTables(api, account, database, states[database.binding])),
  )
  const places = tables.flatMap(({ binding, place }) => {
    const found = states[binding]
    return found?.state === 'there' ? [[binding, { ...found, location: place }] as const] : []
  })
  return {
    secrets: Object.fromEntries(secrets) as unknown as AccountFacts['secrets'],
    stores: { ...states, ...Object.fromEntries(places) },
    lacking: Object.fromEntries(tables.map(({ binding, lacking }) => [binding, lacking])),
    schemaFaults: tables.flatMap(({ binding, faults }) => faults.map((fault) => `${binding}/${fault}`)),
  }
}

/** A store is found by its id, or by its name if weir.toml has no id. */
async function readStores(
  api: CloudflareApi,
  account: string,
  stores: readonly Store[],
): Promise<(readonly [string, StoreState])[]> {
  const bucket = stores.find(({ kind }) => kind === 'R2')
  const [databases, namespaces, found] = await Promise.all([
    api.databases(account),
    api.namespaces(account),
    bucket && api.bucket(account, bucket.name),
  ])
  return stores.map((store): readonly [string, StoreState] => {
    if (store.kind === 'R2')
      return [
        store.binding,
        found ? { state: 'there', id: store.name, location: found.location ?? null } : { state: 'missing' },
      ]
    const all = store.kind === 'D1' ? databases : namespaces
    if (store.id !== undefined)
      return [store.binding, all.has(store.id) ? { state: 'there', id: store.id, location: null } : { state: 'gone' }]
    const named = [...all].find(([, name]) => name === store.name)
    return [
      store.binding,
      named === undefined ? { state: 'missing' } : { state: 'there', id: named[0], location: null },
    ]
  })
}

interface Tables {
  readonly binding: string
  readonly lacking: readonly string[] | null
  readonly faults: readonly string[]
  readonly place: string | null
}

async function readTables(
  api: CloudflareApi,
  account: string,
  database: Database,
  found: StoreState | undefined,
): Promise<Tables> {
  const { binding } = database
  const files = migrationsOf(database)
  const names = files.map(({ name }) => name)
  const unread = { binding, lacking: null, faults: [], place: null }
  if (found?.state !== 'there') return { ...unread, lacking: found?.state === 'missing' ? names : null }
  const answer = await api.query(account, found.id, SCHEMA_QUERY)
  const schema = answer.ok ? Rows.safeParse(answer.value[0]?.results) : undefined
  if (!answer.ok || !schema?.success) return unread
  const place = answer.value[0]?.meta?.served_by_region ?? null
  if (!schema.data.some(({ name }) => name === MIGRATIONS_TABLE)) return { ...unread, lacking: names, place }
  const ledger = await api.query(account, found.id, `SELECT name FROM ${MIGRATIONS_TABLE}`)
  const applied = ledger.ok ? Applied.safeParse(ledger.value[0]?.results) : undefined
  if (!applied?.success) return { ...unread, place }
  const lacking = names.filter((name) => !applied.data.some((row) => row.name === name))
  const faults =
    lacking.length > 0
      ? []
      : schemaFaults(
          files.map(({ sql }) => sql),
          schema.data,
        )
  return { binding, lacking, faults, place }
}
