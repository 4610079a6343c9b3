// A batch as one INSERT over ClickHouse's HTTP interface. Its name is the token by which a table with a deduplication window
// takes it once; old servers, which know no token, know the same bytes again; rows have their keys besides. Law: no 200 counts
// whose answer names an exception.

import type { Egress } from '../../egress/egress.client.ts'
import type { Batch, Outcome } from '../batch.ts'
import { insertLines } from './clickhouse-rows.ts'
import { accessOf, type ClickHouseConfig, type ClickHouseTables, placeOf } from './clickhouse-table.client.ts'
import { excerpt, exchange, outcomeOf } from './http.client.ts'

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
  const known = await tables.of(config, [...Object.keys(SETTINGS), TOKEN], egress)
  if (!('columns' in known)) return known
  const place = placeOf(config)
  const has = (name: string) => known.columns.has(name)
  if (!batch.rows.some((row) => Object.keys(row).some(has)))
    return { ok: false, words: `${place.join('.')} has no column of these rows` }
  const url = new URL(config.url)
  const query = `INSERT INTO ${place.map(quoted).join('.')} FORMAT JSONEachRow`
  const settings = Object.entries({ ...SETTINGS, [TOKEN]: batch.id }).filter(([name]) => known.settings.has(name))
  // The answer is not begun before all is done.
  const own = { query, wait_end_of_query: '1', query_id: `${batch.id}:${crypto.randomUUID()}` }
  for (const [name, value] of [...settings, ...Object.entries(own)]) url.searchParams.set(name, value)
  const { headers, secrets } = accessOf(config)
  const body = insertLines(batch.rows, known.columns)
  const content = { ...headers, 'content-type': 'application/x-ndjson' }
  const answer = await exchange({ url: url.href, headers: content, body }, egress)
  const outcome = outcomeOf(answer, body.length, secrets)
  const said = outcome.ok && 'text' in answer ? answer.text : ''
  if (outcome.ok && !said.includes('DB::Exception')) return outcome
  tables.forget(config)
  return outcome.ok ? { ok: false, words: excerpt(said, secrets) } : outcome
}

const quoted = (name: string) => `\`${name}\``
