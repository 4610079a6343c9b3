// A batch as one POST, signed as Standard Webhooks has it: `webhook-id` is the batch's.

import { hmac } from '../../credit/webhooks/signature.client.ts'
import { secretBytes, signedText } from '../../credit/webhooks/webhook.ts'
import type { Egress } from '../../egress/egress.client.ts'
import type { Batch, Outcome } from '../batch.ts'
import type { DestinationConfig } from '../pipeline.ts'
import { exchange, outcomeOf } from './http.client.ts'

type Config = Extract<DestinationConfig, { type: 'webhook' }>

export async function sendToWebhook({ url, secret }: Config, batch: Batch, egress: Egress): Promise<Outcome> {
  const { id, pipeline, topic, from, to, texts } = batch
  const head = JSON.stringify({ id, type: 'pipeline.batch', pipeline, topic, from, to })
  const body = `${head.slice(0, -1)},"rows":[${texts.join(',')}]}`
  const seconds = Math.floor(Date.now() / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'weir-pipeline/1',
    'webhook-id': id,
    'webhook-timestamp': `${seconds}`,
    'webhook-signature': `v1,${await hmac(secretBytes(secret), signedText(id, seconds, body))}`,
  }
  return outcomeOf(await exchange({ url, headers, body }, egress), body.length, [secret])
}
