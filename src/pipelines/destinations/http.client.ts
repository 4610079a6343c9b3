// Destinations that take a batch as one HTTP request: webhooks signed according to the Standard Webhooks scheme, and
// Kafka topics behind a Confluent REST v2 bridge. Invariant: requests are bounded in time and response size, and
// redirects are never followed.

import { orFallback } from '../../core/deadline.ts'
import type { Egress } from '../../core/egress.client.ts'
import { parseJson } from '../../core/json.ts'
import { hmac } from '../../core/signature.client.ts'
import { after } from '../../core/timers.client.ts'
import { visible } from '../../core/visible.ts'
import { secretBytes, signedText } from '../../metering/webhooks/webhook.ts'
import type { DestinationConfig } from '../pipeline.ts'
import { MASK } from '../secrets.ts'
import type { AttemptResult, Batch } from './batch.ts'

const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_EXCERPT_CHARS = 200

export interface HttpRequest {
  readonly url: string
  readonly method?: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
}

export type HttpResult =
  | { readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  | { readonly failed: string }

/** Never rejects: failures are returned. `maxBytes`: maximum bytes of the response to read. */
export async function sendRequest(
  request: HttpRequest,
  egress: Egress,
  { maxBytes = MAX_RESPONSE_BYTES, patienceMs = TIMEOUT_MS } = {},
): Promise<HttpResult> {
  const url = new URL(request.url)
  const refusal = await egress.refusal(url.hostname, url.protocol === 'https:')
  if (refusal !== null) return { failed: refusal }
  // On some platforms an abort signal does not stop reading a body, hence the race.
  const late = new AbortController()
  const answer = await orFallback(fetchText(url, request, late.signal, maxBytes), patienceMs, null, after)
  late.abort()
  return answer ?? { failed: `The destination did not respond within ${patienceMs / 1000} s` }
}

async function fetchText(
  url: URL,
  { method = 'POST', headers, body }: HttpRequest,
  signal: AbortSignal,
  maxBytes: number,
): Promise<HttpResult> {
  try {
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal })
    const { status } = response
    const text = await textOf(response, maxBytes)
    return { status, text, retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()) }
  } catch {
    return { failed: 'The destination could not be reached' }
  }
}

/** Only 2xx is success. `bytes`: size of the request. `secrets` are masked in the message. */
export function attemptResult(answer: HttpResult, bytes: number, secrets: readonly string[]): AttemptResult {
  if ('failed' in answer) return { ok: false, message: answer.failed }
  const { status, text, retryAfterMs: waitMs } = answer
  if (status >= 200 && status < 300) return { ok: true, bytes }
  const isRedirect = status >= 300 && status < 400
  const detail = isRedirect ? 'redirects are not followed' : excerpt(text, secrets)
  const words = `The destination returned ${status}${detail === '' ? '' : `: ${detail}`}`
  return { ok: false, message: words, ...(waitMs !== null && { retryAfterMs: waitMs }) }
}

/**
 * One line of a response, with secrets masked: a user who may change a URL path must not be able to read the secret
 * from the response.
 */
export function excerpt(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]).filter((form) => form !== '')
  const hushed = forms.reduce((rest, form) => rest.replaceAll(form, MASK), text.trim())
  return visible(hushed.slice(0, MAX_EXCERPT_CHARS))
}

/** HTTP basic authentication, UTF-8 encoded. */
export function basicAuth(user: string, password: string): string {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`
}

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; bytes < maxBytes; ) {
    const { value, done } = await reader.read()
    if (done) return text
    bytes += value.byteLength
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel().catch(() => undefined)
  return text
}

function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const seconds = /^\d{1,6}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

type WebhookConfig = Extract<DestinationConfig, { type: 'webhook' }>

export async function sendToWebhook(
  { url, secret }: WebhookConfig,
  batch: Batch,
  egress: Egress,
): Promise<AttemptResult> {
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
  return attemptResult(await sendRequest({ url, headers, body }, egress), body.length, [secret])
}

/** A response has about 50 bytes per record. */
const MAX_RECORDS_RESPONSE_BYTES = 2 * 1024 * 1024

type KafkaConfig = Extract<DestinationConfig, { type: 'kafka' }>

export async function sendToKafka(
  { url, topic, user, password }: KafkaConfig,
  batch: Batch,
  egress: Egress,
): Promise<AttemptResult> {
  const { rows, texts, id } = batch
  const records = rows.map(({ _key }, at) => `{"key":${JSON.stringify(_key)},"value":${texts[at]}}`)
  const body = `{"records":[${records.join(',')}]}`
  const authorization = basicAuth(user ?? '', password ?? '')
  const headers = {
    'content-type': 'application/vnd.kafka.json.v2+json',
    accept: 'application/vnd.kafka.v2+json, application/json',
    'idempotency-key': id,
    ...(user !== undefined && { authorization }),
  }
  const target = `${url.replace(/\/+$/, '')}/topics/${encodeURIComponent(topic)}`
  const answer = await sendRequest({ url: target, headers, body }, egress, { maxBytes: MAX_RECORDS_RESPONSE_BYTES })
  const secrets = [password ?? '', authorization.slice('Basic '.length)]
  const outcome = attemptResult(answer, body.length, secrets)
  return outcome.ok && 'text' in answer ? (recordFailure(answer.text, rows.length, secrets) ?? outcome) : outcome
}

/** The bridge returns 200 and reports errors per record. */
function recordFailure(text: string, count: number, secrets: readonly string[]): AttemptResult | null {
  const { offsets } = (parseJson(text) ?? {}) as { readonly offsets?: unknown }
  if (!Array.isArray(offsets))
    return { ok: false, message: `The Kafka bridge returned no offsets: ${excerpt(text, secrets)}` }
  const failed = (offsets as { error?: unknown; error_code?: unknown }[]).find(
    (one) => one?.error_code != null || one?.error != null,
  )
  const why = failed?.error ?? failed?.error_code
  const detail = typeof why === 'string' ? why : JSON.stringify(why)
  if (failed) return { ok: false, message: `The Kafka bridge rejected a record: ${excerpt(detail, secrets)}` }
  return offsets.length === count
    ? null
    : { ok: false, message: `The Kafka bridge accepted ${offsets.length} of ${count} records` }
}
