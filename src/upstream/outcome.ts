// Interprets a source's reply. All requests to sources are reads, so all may be repeated.

import { parseJson } from '../core/json.ts'
import { LONGEST_REST_MS } from './breaker.ts'

/**
 * A complete reply, or the reason why there is none. `cut`: the body ended early. `oversized`: it exceeded our limit.
 */
export type SourceReply =
  | { readonly status: number; readonly retryAfter: string | null; readonly text: string }
  | { readonly failed: 'timeout' | 'unreachable' | 'cut' | 'oversized' }

export type Outcome =
  /** `rows`: number of entries if the response is a list, else 0. */
  | { readonly kind: 'answer'; readonly text: string; readonly rows: number }
  /** The source is healthy and rejects this request. `sure`: the reply cannot mean anything else. */
  | { readonly kind: 'refused'; readonly sure: boolean }
  | { readonly kind: 'busy'; readonly restMs: number }
  | { readonly kind: 'timeout' }
  /**
   * `whole`: the source is down for all types. `surely`: the request cannot be at fault. `again`: a retry may succeed.
   */
  | { readonly kind: 'broken'; readonly whole: boolean; readonly again: boolean; readonly surely?: true }

/** Pause of a source that returns 429 without Retry-After. */
export const DEFAULT_REST_MS = 1_000

/** Interprets a reply to `body`. `now` is needed for a Retry-After date. */
export function outcomeOf(sent: SourceReply, body: string, now: number): Outcome {
  if ('failed' in sent) {
    if (sent.failed === 'timeout') return { kind: 'timeout' }
    if (sent.failed === 'unreachable') return { kind: 'broken', whole: true, again: true, surely: true }
    return { kind: 'broken', whole: false, again: sent.failed !== 'oversized' }
  }
  const { status, text } = sent
  if (status === 200) return answerOf(text)
  const restMs = restMsOf(sent.retryAfter, now)
  if (status === 429) return { kind: 'busy', restMs: restMs ?? DEFAULT_REST_MS }
  if (status === 503 && restMs !== null) return { kind: 'busy', restMs }
  if (status === 400 || status === 422) return { kind: 'refused', sure: true }
  // The public server returns exactly this for an unknown name, but a broken server may return it, too.
  if (status === 500 && text === 'null' && hasNames(body)) return { kind: 'refused', sure: false }
  const whole = status === 401 || status === 403 || status === 502 || status === 503 || status === 504
  return { kind: 'broken', whole, again: status >= 500 }
}

function answerOf(text: string): Outcome {
  const value = parseJson(text)
  if (value === undefined) return { kind: 'broken', whole: false, again: true }
  return { kind: 'answer', text, rows: Array.isArray(value) ? value.length : 0 }
}

/** True if a canonical request contains names that may not exist. */
function hasNames(body: string): boolean {
  return exchangeNames(JSON.parse(body) as object).length > 0
}

/** Null if the header is missing or invalid. */
export function restMsOf(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return null
  const isSeconds = /^\d+$/.test(retryAfter)
  // Date.parse alone accepts almost any string.
  if (!isSeconds && !retryAfter.endsWith(' GMT')) return null
  const ms = isSeconds ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_REST_MS) : null
}

// Finds exchange names in a canonical request. The gateway checks only the syntax of these values; only the exchange
// can verify them. Invariant: a request without names cannot cause a source's failure.

/** Fields whose accepted values are always valid; addresses are recognized by syntax. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['type', 'startTime', 'endTime', 'interval', 'oid'])
const ADDRESS = /^0x[0-9a-f]{40}$/

/** Paths of the names, with dots (`req.coin`). `dex` comes last, because it is usually verified beforehand. */
export function exchangeNames(request: object): readonly string[] {
  const names = Object.entries(request).flatMap(([field, value]: [string, unknown]) => {
    if (OWN_FIELDS.has(field)) return []
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return exchangeNames(value).map((inner) => `${field}.${inner}`)
    const isName = typeof value === 'number' || (typeof value === 'string' && value !== '' && !ADDRESS.test(value))
    return isName ? [field] : []
  })
  return names.toSorted((a, b) => Number(a === 'dex') - Number(b === 'dex'))
}
