// Inserts batches into ClickHouse tables, on old and new servers. Table columns are cached. Nested JSON, booleans,
// nulls and decimals are formatted for the column type, because old servers lack the settings that convert them.
// Invariant: the same rows and columns produce the same bytes, so that a table can deduplicate a repeated batch.

import * as z from 'zod'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { Egress } from '../../core/egress.client.ts'
import { parseJson } from '../../core/json.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { Row } from '../topics/topic.ts'
import type { AttemptResult, Batch } from './batch.ts'
import { attemptResult, basicAuth, excerpt, type HttpResult, sendRequest } from './http.client.ts'
import { CLICKHOUSE, missingDdl, missingTableMessage, tableColumns } from './table-ddl.ts'

/** Column types by name. Columns that cannot be written are left out. */
export type TableColumns = ReadonlyMap<string, string>

const WRAPS = /^(?:(?:LowCardinality|Nullable)\()+/
const NULLABLE = /^(?:LowCardinality\()?Nullable\(/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** One JSON line per row, limited to fields that have a column. */
export function insertLines(rows: readonly Row[], columns: TableColumns): string {
  return rows.map((row) => `${lineOf(row, columns)}\n`).join('')
}

function lineOf(row: Row, columns: TableColumns): string {
  const fields = Object.entries(row).flatMap(([name, value]) => {
    const type = columns.get(name)
    const cell = type === undefined ? null : cellOf(value, type)
    return cell === null ? [] : [`${JSON.stringify(name)}:${cell}`]
  })
  return `{${fields.join(',')}}`
}

/** Null: omit the field so that the column gets its default. */
function cellOf(value: unknown, type: string): string | null {
  if (value === undefined) return null
  if (value === null) return NULLABLE.test(type) ? 'null' : null
  const bare = type.replace(WRAPS, '')
  if (/^(?:Fixed)?String/.test(bare)) {
    // ClickHouse rejects lone surrogates.
    return JSON.stringify(typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value))
  }
  if (bare.startsWith('Decimal') && typeof value === 'string' && DECIMAL.test(value)) return value
  if (typeof value === 'boolean' && !bare.startsWith('Bool')) return value ? '1' : '0'
  return JSON.stringify(value)
}

export type ClickHouseConfig = Extract<DestinationConfig, { type: 'clickhouse' }>

export interface ClickHouseTable {
  /** Empty if the table does not exist or the user may not see it. */
  readonly columns: TableColumns
  readonly settings: ReadonlySet<string>
}

const CACHE_MS = 60_000
const MAX_TABLES = 16
/** Name and type of each column. The response also lists settings, with an empty type. */
const ColumnsResponse = z.object({ data: z.array(z.tuple([z.string(), z.string()])) })

export class ClickHouseTables {
  readonly #cache = new BoundedMap<string, { readonly untilMs: number; readonly table: ClickHouseTable }>(MAX_TABLES)

  async get(
    config: ClickHouseConfig,
    settings: readonly string[],
    egress: Egress,
  ): Promise<ClickHouseTable | (AttemptResult & { readonly ok: false })> {
    const key = JSON.stringify(config)
    const known = this.#cache.get(key)
    if (known && known.untilMs > Date.now()) return known.table
    const table = await queryTable(config, settings, egress)
    // A missing table may exist at the next attempt, so it is not cached.
    if ('columns' in table && table.columns.size > 0) this.#cache.set(key, { untilMs: Date.now() + CACHE_MS, table })
    return table
  }

  /** Removes a table that may have changed from the cache. */
  forget(config: ClickHouseConfig): void {
    this.#cache.delete(JSON.stringify(config))
  }
}

/** The table name may include the database. */
function tableName({ database, table }: ClickHouseConfig): readonly [database: string, table: string] {
  const [first = '', ...rest] = table.split('.')
  return rest.length === 0 ? [database, first] : [first, rest.join('.')]
}

/** Authorization header, and the secrets to mask in messages. */
function credentialsOf({ user, password }: ClickHouseConfig) {
  const authorization = basicAuth(user, password)
  return { headers: { authorization }, secrets: [password, authorization.slice('Basic '.length)] }
}

async function queryTable(config: ClickHouseConfig, settings: readonly string[], egress: Egress) {
  const [database, table] = tableName(config)
  const { headers, secrets } = credentialsOf(config)
  const body =
    `SELECT name, '' AS type FROM system.settings WHERE name IN (${settings.map(quotedText).join(', ')}) UNION ALL ` +
    `SELECT name, type FROM system.columns WHERE database = ${quotedText(database)} AND table = ${quotedText(table)} ` +
    `AND default_kind NOT IN ('MATERIALIZED', 'ALIAS', 'EPHEMERAL') FORMAT JSONCompact`
  const failed = (message: string) => ({ ok: false, message }) as const
  const answer = await sendRequest({ url: config.url, headers, body }, egress)
  const outcome = attemptResult(answer, 0, secrets)
  if (!outcome.ok) return outcome
  const text = 'text' in answer ? answer.text : ''
  const found = ColumnsResponse.safeParse(parseJson(text)).data?.data
  if (!found) return failed(`The destination did not respond like a ClickHouse server: ${excerpt(text, secrets)}`)
  const columns = new Map(found.filter(([, type]) => type !== ''))
  return { columns, settings: new Set(found.filter(([, type]) => type === '').map(([name]) => name)) }
}

/** No escaping is needed: names in records consist of letters, digits, "_" and "."; setting names are constants. */
const quotedText = (name: string) => `'${name}'`

/**
 * These settings are sent only to servers that know them. With them, a success response means that every row was
 * stored, whatever the user's profile says.
 */
const SETTINGS = {
  async_insert: '0',
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: '0',
} as const
const TOKEN_SETTING = 'insert_deduplication_token'

export async function sendToClickHouse(
  config: ClickHouseConfig,
  batch: Batch,
  egress: Egress,
  tables: ClickHouseTables,
): Promise<AttemptResult> {
  const place = tableName(config)
  const name = place.map(quoted).join('.')
  const table = () => tables.get(config, [...Object.keys(SETTINGS), TOKEN_SETTING], egress)
  let known = await table()
  if (!('columns' in known)) return known
  const ddl = missingDdl(CLICKHOUSE, name, tableColumns(batch), [...known.columns.keys()])
  if (ddl !== null && config.create_table) {
    const made = insertResult(await sendRequest({ ...ddlRequest(config), body: ddl }, egress), 0, config)
    tables.forget(config)
    if (!made.ok) return made
    known = await table()
    if (!('columns' in known)) return known
  }
  if (known.columns.size === 0)
    return {
      ok: false,
      message: `${missingTableMessage(place.join('.'), ddl)}. The user may also lack permission to see it`,
    }
  const { columns, settings: supported } = known
  if (!batch.rows.some((row) => Object.keys(row).some((field) => columns.has(field))))
    return { ok: false, message: `Table ${place.join('.')} has no column that matches a field of these rows` }
  const url = new URL(config.url)
  const query = `INSERT INTO ${name} FORMAT JSONEachRow`
  const settings = Object.entries({ ...SETTINGS, [TOKEN_SETTING]: batch.id }).filter(([setting]) =>
    supported.has(setting),
  )
  // `wait_end_of_query` delays the response until the insert is done.
  const own = { query, wait_end_of_query: '1', query_id: `${batch.id}:${crypto.randomUUID()}` }
  for (const [setting, value] of [...settings, ...Object.entries(own)]) url.searchParams.set(setting, value)
  const body = insertLines(batch.rows, columns)
  const { headers } = credentialsOf(config)
  const content = { ...headers, 'content-type': 'application/x-ndjson' }
  const answer = await sendRequest({ url: url.href, headers: content, body }, egress)
  const outcome = insertResult(answer, body.length, config)
  if (!outcome.ok) tables.forget(config)
  return outcome
}

const { quoted } = CLICKHOUSE

function ddlRequest(config: ClickHouseConfig) {
  return { url: config.url, headers: credentialsOf(config).headers }
}

/** A response with status 200 may contain an exception. */
function insertResult(answer: HttpResult, bytes: number, config: ClickHouseConfig): AttemptResult {
  const { secrets } = credentialsOf(config)
  const outcome = attemptResult(answer, bytes, secrets)
  const body = outcome.ok && 'text' in answer ? answer.text : ''
  return body.includes('DB::Exception') ? { ok: false, message: excerpt(body, secrets) } : outcome
}
