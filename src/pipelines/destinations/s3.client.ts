// A batch as one object of a bucket that speaks S3. Its name is the batch's: to write it again changes nothing.

import { AwsClient } from 'aws4fetch'
import type { Egress } from '../../core/egress.client.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { Batch, Outcome } from './batch.ts'
import { fileName, fileOf } from './batch-file.client.ts'
import { exchange, outcomeOf } from './http.client.ts'

type Config = Extract<DestinationConfig, { type: 's3' }>

const TYPES = { parquet: 'application/vnd.apache.parquet', ndjson: 'application/gzip' } as const

export async function sendToS3(config: Config, batch: Batch, egress: Egress): Promise<Outcome> {
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
  const answer = await exchange({ url: signed.url, method: 'PUT', headers, body }, egress)
  return outcomeOf(answer, body.byteLength, [config.secret_access_key])
}
