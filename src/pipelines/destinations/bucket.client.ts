// A batch as one object of the operator's bucket. Its name is the batch's: to write it again changes nothing.

import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { DestinationConfig } from '../pipeline.ts'
import type { Batch, Outcome } from './batch.ts'
import { fileName, fileOf } from './batch-file.client.ts'

type Config = Extract<DestinationConfig, { type: 'r2' }>

const PATIENCE_MS = 30_000
/** Rows of pipelines lie apart from the archive in its bucket. */
const ROWS_PREFIX = 'pipelines/rows/'

export async function sendToBucket(config: Config, batch: Batch, bucket: R2Bucket | undefined): Promise<Outcome> {
  if (!bucket) return { ok: false, words: 'there is no bucket here: the operator has set up no archive' }
  const body = await fileOf(batch, config.format)
  const key = `${ROWS_PREFIX}${fileName(batch, config.prefix, config.format)}`
  await orReject(bucket.put(key, body), PATIENCE_MS, after)
  return { ok: true, bytes: body.byteLength }
}
