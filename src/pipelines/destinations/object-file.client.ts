// Writes a batch as one object, NDJSON or Parquet, to the operator's bucket or an S3-compatible store. Invariant: the
// same rows produce the same bytes under the same name, so that writing a batch again changes nothing.

import { AwsClient } from 'aws4fetch'
import { padded } from '../../archive/archive/archive-keys.ts'
import { pack } from '../../archive/archive/gzip-lines.client.ts'
import type { Cell, Column, ColumnType } from '../../archive/files/columns.ts'
import { Parquet } from '../../archive/files/tables.client.ts'
import { orReject } from '../../core/deadline.ts'
import type { Egress } from '../../core/egress.client.ts'
import { after } from '../../core/timers.client.ts'
import type { DestinationConfig } from '../pipeline.ts'
import { HEAD_COLUMNS, NOTE_COLUMNS, type Row } from '../topics/topic.ts'
import { type AttemptResult, type Batch, batchId } from './batch.ts'
import { attemptResult, sendRequest } from './http.client.ts'

/** Object name of a batch, the same for every attempt. Tests and repairs of the same heights use different names. */
function fileName({ id, pipeline, from, to }: Batch, prefix: string, format: 'parquet' | 'ndjson'): string {
  const kind = id.slice(batchId(pipeline, { from, to }).length).replaceAll(':', '-')
  return `${prefix}${pipeline}/${padded(from)}-${padded(to)}${kind}.${format === 'parquet' ? 'parquet' : 'ndjson.gz'}`
}

async function fileOf(batch: Batch, format: 'parquet' | 'ndjson'): Promise<Uint8Array<ArrayBuffer>> {
  if (format === 'parquet') return parquetOf(batch)
  return new Uint8Array((await pack([...batch.texts, ''])).body)
}

function parquetOf({ rows, columns }: Batch): Uint8Array<ArrayBuffer> {
  const own = columns === null ? columnsOf(rows) : [...columns, ...NOTE_COLUMNS].map(optional)
  const all = [...HEAD_COLUMNS, ...own]
  const file = new Parquet(all)
  for (const row of rows) file.add(all.map(({ name, type }) => cellOf(row[name], type)))
  return new Uint8Array(file.finish())
}

/** Topic columns are empty in gap and reset rows. */
const optional = ({ name, type }: Column): Column => ({ name, type, isOptional: true })

/** Columns of transformed rows: integers if all values are integers, otherwise text. */
function columnsOf(rows: readonly Row[]): Column[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  for (const { name } of HEAD_COLUMNS) names.delete(name)
  return [...names].map((name) => {
    const cells = rows.map((row) => row[name]).filter((cell) => cell !== null && cell !== undefined)
    const isWhole = cells.length > 0 && cells.every(Number.isSafeInteger)
    return { name, type: isWhole ? 'whole' : 'text', isOptional: true }
  })
}

function cellOf(value: unknown, type: ColumnType): Cell {
  if (value === undefined || value === null) return null
  if (type === 'text') return typeof value === 'string' ? value : JSON.stringify(value)
  return value as Cell
}

const TYPES = { parquet: 'application/vnd.apache.parquet', ndjson: 'application/gzip' } as const

export async function sendToS3(
  config: Extract<DestinationConfig, { type: 's3' }>,
  batch: Batch,
  egress: Egress,
): Promise<AttemptResult> {
  const { url, bucket, region, prefix, format, access_key_id: accessKeyId } = config
  const body = await fileOf(batch, format)
  const name = fileName(batch, prefix, format).split('/').map(encodeURIComponent).join('/')
  const target = `${url.replace(/\/+$/, '')}/${bucket}/${name}`
  const aws = new AwsClient({
    accessKeyId,
    secretAccessKey: config.secret_access_key,
    service: 's3',
    region,
    retries: 0,
  })
  const signed = await aws.sign(target, { method: 'PUT', body, headers: { 'content-type': TYPES[format] } })
  const headers = Object.fromEntries(signed.headers)
  const answer = await sendRequest({ url: signed.url, method: 'PUT', headers, body }, egress)
  return attemptResult(answer, body.byteLength, [config.secret_access_key])
}

const TIMEOUT_MS = 30_000
/** Separates pipeline rows from the archive in the same bucket. */
const ROWS_PREFIX = 'pipelines/rows/'

export async function sendToBucket(
  config: Extract<DestinationConfig, { type: 'r2' }>,
  batch: Batch,
  bucket: { put(key: string, body: Uint8Array<ArrayBuffer>): Promise<unknown> } | undefined,
): Promise<AttemptResult> {
  if (!bucket) return { ok: false, message: 'No bucket is available: the operator has not set up an archive' }
  const body = await fileOf(batch, config.format)
  const key = `${ROWS_PREFIX}${fileName(batch, config.prefix, config.format)}`
  await orReject(bucket.put(key, body), TIMEOUT_MS, after)
  return { ok: true, bytes: body.byteLength }
}
