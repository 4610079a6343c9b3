// A batch as one INSERT over ClickHouse's HTTP interface. Its name is the token by which a table with a deduplication window
// takes it once; old servers, which know no token, know the same bytes again; rows have their keys besides. Law: no 200 counts
// whose answer names an exception.

import type { Egress } from '../../egress/egress.client.ts'
import type { Batch, Outcome } from '../batch.ts'
import { insertLines } from './clickhouse-rows.ts'
import { accessOf, type ClickHouseConfig, type ClickHouseTables, placeOf } from './clickhouse-table.client.ts'
import { excerpt, exchange, type HttpAnswer, outcomeOf } from './http.client.ts'
import { CLICKHOUSE, missingDdl, noTable, tableColumns } from './table-ddl.ts'

/** Where a server knows them. An answer says that all rows are there, whatever the user's profile has. */
const SETTINGS = {
  async_insert: '0',
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: '0',
} as const
const TOKEN = 'insert_deduplication_token'

export async function sendToClickHouse(
  config: ClickHouseConfig,
  batch: Batch,
  egress: Egress,
  tables: ClickHouseTables,
): Promise<Outcome> {
  const place = placeOf(config)
  const name = place.map(quoted).join('.')
  const table = () => tables.of(config, [...Object.keys(SETTINGS), TOKEN], egress)
  let known = await table()
  if (!('columns' in known)) return known
  const ddl = missingDdl(CLICKHOUSE, name, tableColumns(batch), [...known.columns.keys()])
  if (ddl !== null && config.create_table) {
    const made = outcomeWithoutException(await exchange({ ...requestOf(config), body: ddl }, egress), 0, config)
    tables.forget(config)
    if (!made.ok) return made
    known = await table()
    if (!('columns' in known)) return known
  }
  if (known.columns.size === 0)
    return { ok: false, words: `${noTable(place.join('.'), ddl)}. The table may also be hidden from this user` }
  const { columns, settings: supported } = known
  if (!batch.rows.some((row) => Object.keys(row).some((field) => columns.has(field))))
    return { ok: false, words: `${place.join('.')} has no column of these rows` }
  const url = new URL(config.url)
  const query = `INSERT INTO ${name} FORMAT JSONEachRow`
  const settings = Object.entries({ ...SETTINGS, [TOKEN]: batch.id }).filter(([setting]) => supported.has(setting))
  // The answer is not begun before all is done.
  const own = { query, wait_end_of_query: '1', query_id: `${batch.id}:${crypto.randomUUID()}` }
  for (const [setting, value] of [...settings, ...Object.entries(own)]) url.searchParams.set(setting, value)
  const body = insertLines(batch.rows, columns)
  const { headers } = accessOf(config)
  const content = { ...headers, 'content-type': 'application/x-ndjson' }
  const answer = await exchange({ url: url.href, headers: content, body }, egress)
  const outcome = outcomeWithoutException(answer, body.length, config)
  if (!outcome.ok) tables.forget(config)
  return outcome
}

const { quoted } = CLICKHOUSE

function requestOf(config: ClickHouseConfig) {
  return { url: config.url, headers: accessOf(config).headers }
}

/** A 200 may name an exception. */
function outcomeWithoutException(answer: HttpAnswer, bytes: number, config: ClickHouseConfig): Outcome {
  const { secrets } = accessOf(config)
  const outcome = outcomeOf(answer, bytes, secrets)
  const said = outcome.ok && 'text' in answer ? answer.text : ''
  return said.includes('DB::Exception') ? { ok: false, words: excerpt(said, secrets) } : outcome
}
