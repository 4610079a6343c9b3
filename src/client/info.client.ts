// Sends `POST /info` requests. After a temporary failure, a request is retried, unless the gateway asks for too long a
// wait. The timeout applies to each attempt.

import { type Backoff, backoffMs } from '../core/backoff.ts'
import type { After } from '../core/deadline.ts'
import { parseJson } from '../core/json.ts'
import type { Answer } from './api.ts'
import { type Endpoint, infoUrl, retryAfterOf } from './runtime.ts'
import { BY_STATUS, WeirError } from './weir-error.ts'

/** Settings of all info requests of a client. */
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
/** Error codes after which the same request may succeed later. */
const TRANSIENT_CODES = new Set([
  'rate_limited',
  'unavailable',
  'upstream_failed',
  'upstream_timeout',
  'network',
  'timeout',
])

/** Sends a request. Rejects with a `WeirError`. */
export async function sendInfo<T>(settings: InfoSettings, request: object, signal?: AbortSignal): Promise<Answer<T>> {
  const body = JSON.stringify(request)
  for (let attempt = 0; ; attempt++) {
    const result = await attemptOnce<T>(settings, body, signal).catch((error: unknown) => error as WeirError)
    if (!(result instanceof WeirError)) return result
    const waitMs = Math.max(result.retryAfterMs ?? 0, backoffMs(BACKOFF, attempt, settings.random()))
    if (!TRANSIENT_CODES.has(result.code) || attempt >= settings.retries || waitMs > settings.maxRetryWaitMs)
      throw result
    await delay(settings.after, waitMs, signal)
  }
}

async function attemptOnce<T>(
  { endpoint, fetch: fetchInfo, after, timeoutMs }: InfoSettings,
  body: string,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  if (signal?.aborted) throw aborted()
  const controller = new AbortController()
  let hasTimedOut = false
  const stop = after(timeoutMs, () => {
    hasTimedOut = true
    controller.abort()
  })
  const abort = () => controller.abort()
  signal?.addEventListener('abort', abort)
  try {
    const headers = { authorization: `Bearer ${endpoint.key}`, 'content-type': 'application/json' }
    const response = await fetchInfo(infoUrl(endpoint), { method: 'POST', headers, body, signal: controller.signal })
    return read<T>(response.status, response.headers, await response.text())
  } catch (error) {
    if (error instanceof WeirError) throw error
    if (signal?.aborted) throw aborted()
    if (hasTimedOut) throw new WeirError('timeout', `no response within ${timeoutMs} ms`)
    throw new WeirError('network', `no response from ${infoUrl(endpoint)}: ${(error as Error).message}`)
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
    const failureCode = typeof code === 'string' ? code : (BY_STATUS[status] ?? 'unreadable')
    throw new WeirError(failureCode, typeof msg === 'string' ? msg : `HTTP ${status}`, details)
  }
  const numberOf = (name: string) => (headers.has(name) ? Number(headers.get(name)) : null)
  return {
    data: data as T,
    credits: { cost: headers.get('x-credits-cost'), remaining: headers.get('x-credits-remaining') },
    height: numberOf('x-block-height'),
    ageSeconds: numberOf('age'),
    nextCursor: headers.get('x-next-cursor'),
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
