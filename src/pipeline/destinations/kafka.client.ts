// A batch as records of a Kafka topic, by an HTTP bridge that speaks Confluent's REST, v2: the key of a record is its row's.

import type { Egress } from '../../egress/egress.client.ts'
import type { Batch, Outcome } from '../batch.ts'
import type { DestinationConfig } from '../pipeline.ts'
import { basic, excerpt, exchange, outcomeOf } from './http.client.ts'

/** An answer has some fifty bytes for each record. */
const ANSWER_BYTES = 2 * 1024 * 1024

type Config = Extract<DestinationConfig, { type: 'kafka' }>

export async function sendToKafka(
  { url, topic, user, password }: Config,
  batch: Batch,
  egress: Egress,
): Promise<Outcome> {
  const { rows, texts, id } = batch
  const records = texts.map((text, at) => `{"key":${JSON.stringify(rows[at]!._key)},"value":${text}}`)
  const body = `{"records":[${records.join(',')}]}`
  const authorization = basic(user ?? '', password ?? '')
  const headers = {
    'content-type': 'application/vnd.kafka.json.v2+json',
    accept: 'application/vnd.kafka.v2+json, application/json',
    'idempotency-key': id,
    ...(user !== undefined && { authorization }),
  }
  const target = `${url.replace(/\/+$/, '')}/topics/${encodeURIComponent(topic)}`
  const answer = await exchange({ url: target, headers, body }, egress, { mostBytes: ANSWER_BYTES })
  const secrets = [password ?? '', authorization.split(' ')[1]!]
  const outcome = outcomeOf(answer, body.length, secrets)
  return outcome.ok && 'text' in answer ? (refusedOf(answer.text, rows.length, secrets) ?? outcome) : outcome
}

/** A bridge answers 200 and says of each record what became of it. */
function refusedOf(text: string, count: number, secrets: readonly string[]): Outcome | null {
  let offsets: unknown
  try {
    ;({ offsets } = JSON.parse(text) as { offsets?: unknown })
  } catch {
    offsets = undefined
  }
  if (!Array.isArray(offsets))
    return { ok: false, words: `the bridge's answer names no offsets: ${excerpt(text, secrets)}` }
  const failed = (offsets as { error?: unknown; error_code?: unknown }[]).find(
    (one) => one?.error_code != null || one?.error != null,
  )
  const why = failed?.error ?? failed?.error_code
  const said = typeof why === 'string' ? why : JSON.stringify(why)
  if (failed) return { ok: false, words: `a record was refused: ${excerpt(said, secrets)}` }
  return offsets.length === count ? null : { ok: false, words: `the bridge took ${offsets.length} of ${count} records` }
}
