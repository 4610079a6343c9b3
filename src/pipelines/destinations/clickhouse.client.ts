// A batch into a table of ClickHouse of any age. Its columns are looked up once. What servers would have to be told how to read
// (JSON within text, truths, nothing, decimals) is written as the column takes it, because old ones cannot be told. Invariant: the
// same rows for the same columns are the same bytes, by which a table may know a batch that comes again.

import * as z from 'zod'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { Egress } from '../../core/egress.client.ts'
import { parseJson } from '../../core/json.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { Row } from '../topics/topic.ts'
import type { AttemptResult, Batch } from './batch.ts'
import { attemptResult, basicAuth, excerpt, type HttpResult, sendRequest } from './http.client.ts'
import { CLICKHOUSE, missingDdl, missingTableMessage, tableColumns } from './table-ddl.ts'

/** Types by the names of the columns that may be written. */
export type TableColumns = ReadonlyMap<string, string>

const WRAPS = /^(?:(?:LowCardinality|Nullable)\()+/
const NULLABLE = /^(?:LowCardinality\()?Nullable\(/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** A line for each row, with the fields that have a column. */
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

/** Null: the column is left to its default. */
function cellOf(value: unknown, type: string): string | null {
  if (value === undefined) return null
  if (value === null) return NULLABLE.test(type) ? 'null' : null
  const bare = type.replace(WRAPS, '')
  if (/^(?:Fixed)?String/.test(bare)) {
    // Half a character is refused.
    return JSON.stringify(typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value))
  }
  if (bare.startsWith('Decimal') && typeof value === 'string' && DECIMAL.test(value)) return value
  if (typeof value === 'boolean' && !bare.startsWith('Bool')) return value ? '1' : '0'
  return JSON.stringify(value)
}

export type ClickHouseConfig = Extract<DestinationConfig, { type: 'clickhouse' }>

export interface ClickHouseTable {
  /** None: there is no such table, or the user may not see it. */
  readonly columns: TableColumns
  readonly settings: ReadonlySet<string>
}

const CACHE_MS = 60_000
const MAX_TABLES = 16
/** Each name with its type; a setting has none. */
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
    // One that is missing may be there the next time.
    if ('columns' in table && table.columns.size > 0) this.#cache.set(key, { untilMs: Date.now() + CACHE_MS, table })
    return table
  }

  /** It may be another one by now. */
  forget(config: ClickHouseConfig): void {
    this.#cache.delete(JSON.stringify(config))
  }
}

/** A table may be named with its database. */
function tableName({ database, table }: ClickHouseConfig): readonly [database: string, table: string] {
  const [first = '', ...rest] = table.split('.')
  return rest.length === 0 ? [database, first] : [first, rest.join('.')]
}

/** What is sent besides by whoever asks or writes. */
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
  const said = 'text' in answer ? answer.text : ''
  const found = ColumnsResponse.safeParse(parseJson(said)).data?.data
  if (!found) return failed(`the destination does not answer as ClickHouse does: ${excerpt(said, secrets)}`)
  const columns = new Map(found.filter(([, type]) => type !== ''))
  return { columns, settings: new Set(found.filter(([, type]) => type === '').map(([name]) => name)) }
}

/** Names of records hold letters, digits, "_" and "."; those of settings are our own. */
const quotedText = (name: string) => `'${name}'`

/** Where a server knows them. An answer says that all rows are there, whatever the user's profile has. */
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
      message: `${missingTableMessage(place.join('.'), ddl)}. The table may also be hidden from this user`,
    }
  const { columns, settings: supported } = known
  if (!batch.rows.some((row) => Object.keys(row).some((field) => columns.has(field))))
    return { ok: false, message: `${place.join('.')} has no column of these rows` }
  const url = new URL(config.url)
  const query = `INSERT INTO ${name} FORMAT JSONEachRow`
  const settings = Object.entries({ ...SETTINGS, [TOKEN_SETTING]: batch.id }).filter(([setting]) =>
    supported.has(setting),
  )
  // The answer is not begun before all is done.
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

/** A 200 may name an exception. */
function insertResult(answer: HttpResult, bytes: number, config: ClickHouseConfig): AttemptResult {
  const { secrets } = credentialsOf(config)
  const outcome = attemptResult(answer, bytes, secrets)
  const said = outcome.ok && 'text' in answer ? answer.text : ''
  return said.includes('DB::Exception') ? { ok: false, message: excerpt(said, secrets) } : outcome
}
