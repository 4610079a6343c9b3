// A batch to its destination, whatever kind that is.

import { ok, type Result } from '../../core/result.ts'
import type { Egress } from '../../egress/egress.client.ts'
import type { Batch, Outcome } from '../batch.ts'
import { hyperdriveOf } from '../hyperdrive.ts'
import type { DestinationConfig } from '../pipeline.ts'
import { sendToBucket } from './bucket.client.ts'
import { sendToClickHouse } from './clickhouse.client.ts'
import type { ClickHouseTables } from './clickhouse-table.client.ts'
import { dial } from './dial.client.ts'
import { sendToKafka } from './kafka.client.ts'
import { type PostgresConfig, type PostgresServer, sendToPostgres, serverOf } from './postgres.client.ts'
import { sendToS3 } from './s3.client.ts'
import { sendToWebhook } from './webhook.client.ts'

export interface Ways {
  readonly egress: Egress
  readonly isPrivateAllowed: boolean
  readonly bucket: R2Bucket | undefined
  readonly tables: ClickHouseTables
  /** The operator's database of this name, or why not. */
  readonly hyperdrive: (name: string) => Result<Hyperdrive, string>
}

export async function sendBatch(config: DestinationConfig, batch: Batch, ways: Ways): Promise<Outcome> {
  const { egress, bucket } = ways
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
      return toPostgres(config, batch, ways)
    case 'kafka':
      return sendToKafka(config, batch, egress)
  }
}

async function toPostgres(config: PostgresConfig, batch: Batch, ways: Ways): Promise<Outcome> {
  const name = hyperdriveOf(config.url)
  const server =
    name === null ? await serverOf(config, ways.egress, dial, ways.isPrivateAllowed) : bound(ways.hyperdrive(name))
  return server.ok
    ? sendToPostgres(server.value, config.table, batch, config.create_table)
    : { ok: false, words: server.error }
}

/** Between Worker and Hyperdrive lies nothing but Cloudflare: it speaks without TLS there, and with it to the database. */
function bound(hyperdrive: Result<Hyperdrive, string>): Result<PostgresServer, string> {
  if (!hyperdrive.ok) return hyperdrive
  const { user, password, database } = hyperdrive.value
  return ok({ user, password, database, tls: 'none', open: () => hyperdrive.value.connect() })
}
