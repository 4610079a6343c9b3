// A batch as one INSERT over ClickHouse's HTTP interface. Its name is the token by which a table with a deduplication window
// takes it once; rows have their keys besides. Law: no 200 counts whose answer names an exception.

import type { Batch, Outcome } from '../batch.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { Egress } from './egress.client.ts'
import { excerpt, exchange, outcomeOf } from './http.client.ts'

type Config = Extract<DestinationConfig, { type: 'clickhouse' }>

/** Columns that a table does not have are left out; lists and objects go into text columns as JSON. */
const SETTINGS = {
  input_format_skip_unknown_fields: '1',
  input_format_null_as_default: '1',
  input_format_json_read_objects_as_strings: '1',
  input_format_json_read_arrays_as_strings: '1',
  input_format_json_read_bools_as_numbers: '1',
  // An answer says that all rows are there, and is not begun before.
  async_insert: '0',
  wait_end_of_query: '1',
}

export async function sendToClickHouse(config: Config, batch: Batch, egress: Egress): Promise<Outcome> {
  const { user, password, database, table } = config
  const url = new URL(config.url)
  const query = `INSERT INTO ${quoted(database)}.${quoted(table)} FORMAT JSONEachRow`
  const own = { query, insert_deduplication_token: batch.id, query_id: `${batch.id}:${crypto.randomUUID()}` }
  for (const [name, value] of Object.entries({ ...SETTINGS, ...own })) url.searchParams.set(name, value)
  const headers = {
    'content-type': 'application/x-ndjson',
    'x-clickhouse-user': user,
    'x-clickhouse-key': password,
  }
  const body = `${batch.texts.join('\n')}\n`
  const answer = await exchange({ url: url.href, headers, body }, egress)
  if ('status' in answer && answer.status === 200 && answer.text.includes('DB::Exception'))
    return { ok: false, words: excerpt(answer.text, [password]) }
  return outcomeOf(answer, body.length, [password])
}

/** A name may have a dot, which parts database and table. */
function quoted(name: string): string {
  return name
    .split('.')
    .map((part) => `\`${part.replace(/[`\\]/g, '')}\``)
    .join('.')
}
