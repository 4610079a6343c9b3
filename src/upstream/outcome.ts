// What a source's reply means, and what to do next. Every request to a source is a read, so all may be repeated.

import { parseJson } from '../core/json.ts'
import { LONGEST_REST_MS } from './breaker.ts'

/** A reply whose body was read to its end, or why there is none. `cut`: it ended early; `oversized`: it passed our bound. */
export type SourceReply =
  | { readonly status: number; readonly retryAfter: string | null; readonly text: string }
  | { readonly failed: 'timeout' | 'unreachable' | 'cut' | 'oversized' }

export type Outcome =
  /** `rows`: entries of the answer where it is a list, else 0. */
  | { readonly kind: 'answer'; readonly text: string; readonly rows: number }
  /** The source is well and does not accept this request. `sure`: nothing else can be meant by this reply. */
  | { readonly kind: 'refused'; readonly sure: boolean }
  | { readonly kind: 'busy'; readonly restMs: number }
  | { readonly kind: 'timeout' }
  /** `whole`: the source is away, not this type alone; `surely`: whatever is asked; `again`: it may go well then. */
  | { readonly kind: 'broken'; readonly whole: boolean; readonly again: boolean; readonly surely?: true }

/** A source that answers 429 without Retry-After is left alone for this long. */
export const DEFAULT_REST_MS = 1_000

/** Reads a reply to `body`. `now` is needed for a Retry-After that is a date. */
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
  // The public server answers a name that it does not know with exactly this; a broken one may, too.
  if (status === 500 && text === 'null' && hasNames(body)) return { kind: 'refused', sure: false }
  const whole = status === 401 || status === 403 || status === 502 || status === 503 || status === 504
  return { kind: 'broken', whole, again: status >= 500 }
}

function answerOf(text: string): Outcome {
  const value = parseJson(text)
  if (value === undefined) return { kind: 'broken', whole: false, again: true }
  return { kind: 'answer', text, rows: Array.isArray(value) ? value.length : 0 }
}

/** Whether a canonical request names what may not exist. */
function hasNames(body: string): boolean {
  return exchangeNames(JSON.parse(body) as object).length > 0
}

/** Null where the header is missing or says nothing. */
export function restMsOf(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return null
  const isSeconds = /^\d+$/.test(retryAfter)
  // Date.parse alone would make a date of almost anything.
  if (!isSeconds && !retryAfter.endsWith(' GMT')) return null
  const ms = isSeconds ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_REST_MS) : null
}

// Which fields of a canonical request hold names of the exchange: values that we have taken because of their form, and
// that only the exchange can know. Invariant: a request without any cannot be at fault where a source fails at it.

/** Of these every value that we let through is one that the exchange takes; addresses are known by their form. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['type', 'startTime', 'endTime', 'interval', 'oid'])
const ADDRESS = /^0x[0-9a-f]{40}$/

/** Dotted paths (`req.coin`), a `dex` last: it is looked up beforehand wherever that can be done. */
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
