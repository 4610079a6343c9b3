// Questions to `POST /info`: asked again where a failure passes and the gateway's wish to wait is bearable, answered with
// what they cost. A time-out counts from the sending of an attempt.

import { type Backoff, backoffMs } from '../core/backoff.ts'
import type { After } from '../core/deadline.ts'
import { parseJson } from '../core/json.ts'
import type { Answer } from './api.ts'
import { type Endpoint, infoUrl, retryAfterOf } from './runtime.ts'
import { BY_STATUS, WeirError } from './weir-error.ts'

/** How questions are asked. */
export interface InfoSettings {
  readonly endpoint: Endpoint
  readonly fetch: typeof fetch
  readonly after: After
  readonly random: () => number
  readonly timeoutMs: number
  readonly retries: number
  readonly maxRetryWaitMs: number
}

const BACKOFF: Backoff = { firstMs: 250, capMs: 10_000, jitter: 0.5 }
/** Of these the same question may succeed later. */
const TRANSIENT_CODES = new Set([
  'rate_limited',
  'unavailable',
  'upstream_failed',
  'upstream_timeout',
  'network',
  'timeout',
])

/** Rejects with a `WeirError`. */
export async function sendInfo<T>(asking: InfoSettings, question: object, signal?: AbortSignal): Promise<Answer<T>> {
  const body = JSON.stringify(question)
  for (let attempt = 0; ; attempt++) {
    const found = await attemptOnce<T>(asking, body, signal).catch((error: unknown) => error as WeirError)
    if (!(found instanceof WeirError)) return found
    const waitMs = Math.max(found.retryAfterMs ?? 0, backoffMs(BACKOFF, attempt, asking.random()))
    if (!TRANSIENT_CODES.has(found.code) || attempt >= asking.retries || waitMs > asking.maxRetryWaitMs) throw found
    await delay(asking.after, waitMs, signal)
  }
}

async function attemptOnce<T>(
  { endpoint, fetch: ask, after, timeoutMs }: InfoSettings,
  body: string,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  if (signal?.aborted) throw aborted()
  const ended = new AbortController()
  let isLate = false
  const stop = after(timeoutMs, () => {
    isLate = true
    ended.abort()
  })
  const abort = () => ended.abort()
  signal?.addEventListener('abort', abort)
  try {
    const headers = { authorization: `Bearer ${endpoint.key}`, 'content-type': 'application/json' }
    const answer = await ask(infoUrl(endpoint), { method: 'POST', headers, body, signal: ended.signal })
    return read<T>(answer.status, answer.headers, await answer.text())
  } catch (error) {
    if (error instanceof WeirError) throw error
    if (signal?.aborted) throw aborted()
    if (isLate) throw new WeirError('timeout', `no answer within ${timeoutMs} ms`)
    throw new WeirError('network', `no answer from ${infoUrl(endpoint)}: ${(error as Error).message}`)
  } finally {
    stop()
    signal?.removeEventListener('abort', abort)
  }
}

function read<T>(status: number, headers: Headers, text: string): Answer<T> {
  const requestId = headers.get('x-request-id')
  const details = { status, requestId, retryAfterMs: retryAfterOf(headers.get('retry-after')) }
  const data = parseJson(text)
  if (data === undefined) throw new WeirError(BY_STATUS[status] ?? 'unreadable', `HTTP ${status} without JSON`, details)
  if (status !== 200) {
    const { code, msg } = Object(data) as { code?: unknown; msg?: unknown }
    const known = typeof code === 'string' ? code : (BY_STATUS[status] ?? 'unreadable')
    throw new WeirError(known, typeof msg === 'string' ? msg : `HTTP ${status}`, details)
  }
  const numberOf = (name: string) => (headers.has(name) ? Number(headers.get(name)) : null)
  return {
    data: data as T,
    credits: { cost: headers.get('x-credits-cost'), remaining: headers.get('x-credits-remaining') },
    height: numberOf('x-block-height'),
    ageSeconds: numberOf('age'),
    requestId,
  }
}

function aborted(): WeirError {
  return new WeirError('aborted', 'the signal was aborted')
}

function delay(after: After, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      stop()
      reject(aborted())
    }
    const stop = after(ms, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
