// A batch to its destination, whatever kind that is.

import { connect } from 'cloudflare:sockets'
import type { Batch, Outcome } from '../batch.ts'
import type { DestinationConfig } from '../pipeline.ts'
import { sendToBucket } from './bucket.client.ts'
import { sendToClickHouse } from './clickhouse.client.ts'
import type { ClickHouseTables } from './clickhouse-table.client.ts'
import type { Egress } from './egress.client.ts'
import { sendToKafka } from './kafka.client.ts'
import { type Connect, sendToPostgres } from './postgres.client.ts'
import { sendToS3 } from './s3.client.ts'
import { sendToWebhook } from './webhook.client.ts'

export interface Ways {
  readonly egress: Egress
  readonly isPrivateAllowed: boolean
  readonly bucket: R2Bucket | undefined
  readonly tables: ClickHouseTables
}

const dial: Connect = (address) => connect({ ...address }, { secureTransport: 'starttls', allowHalfOpen: false })

export async function sendBatch(config: DestinationConfig, batch: Batch, ways: Ways): Promise<Outcome> {
  const { egress, bucket, isPrivateAllowed } = ways
  switch (config.type) {
    case 'webhook':
      return sendToWebhook(config, batch, egress)
    case 'r2':
      return sendToBucket(config, batch, bucket)
    case 's3':
      return sendToS3(config, batch, egress)
    case 'clickhouse':
      return sendToClickHouse(config, batch, egress, ways.tables)
    case 'postgres':
      return sendToPostgres(config, batch, egress, dial, isPrivateAllowed)
    case 'kafka':
      return sendToKafka(config, batch, egress)
  }
}
