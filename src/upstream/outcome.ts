// What a source's reply means, and what to do next. Every request to a source is a read, so all may be repeated.

/** A reply whose body was read to its end, or why there is none. `oversized`: the body passed our bound. */
export type Sent =
  | { readonly status: number; readonly retryAfter: string | null; readonly text: string }
  | { readonly failed: 'timeout' | 'unreachable' | 'oversized' }

export type Outcome =
  | { readonly kind: 'answer'; readonly text: string }
  /** The source is well and does not accept this request; nothing to repeat, and not a mark against it. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'busy'; readonly restMs: number }
  | { readonly kind: 'timeout' }
  /** `whole`: the source itself is away, rather than failing at this type. */
  | { readonly kind: 'broken'; readonly whole: boolean }

/** A source that answers 429 without Retry-After is left alone for this long. */
const DEFAULT_REST_MS = 1_000
const LONGEST_REST_MS = 60_000

/** Reads a reply. `now` is needed for a Retry-After that is a date. */
export function outcomeOf(sent: Sent, now: number): Outcome {
  if ('failed' in sent) {
    return sent.failed === 'timeout' ? { kind: 'timeout' } : { kind: 'broken', whole: sent.failed === 'unreachable' }
  }
  const { status, text } = sent
  if (status === 200) return isJson(text) ? { kind: 'answer', text } : { kind: 'broken', whole: false }
  if (status === 429) return { kind: 'busy', restMs: restMs(sent.retryAfter, now) }
  if (status === 400 || status === 422) return { kind: 'refused' }
  // The public server answers an unknown dex or coin of some types with exactly this.
  if (status === 500 && text === 'null') return { kind: 'refused' }
  return { kind: 'broken', whole: status === 502 || status === 503 || status === 504 }
}

/** Whether the same source is asked once more: not after a timeout, which has already cost the caller its patience. */
export function isWorthRepeating(outcome: Outcome): boolean {
  return outcome.kind === 'broken'
}

/** Full jitter: a random part of a base that doubles per attempt. `random` is in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number {
  return Math.floor(random * 100 * 2 ** attempt)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function restMs(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return DEFAULT_REST_MS
  const seconds = Number(retryAfter)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_REST_MS) : DEFAULT_REST_MS
}
