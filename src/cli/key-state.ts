// What is to be said of a key at a moment: whether it works, why not, and until when.

import { PRODUCTS_OF_KIND } from '../accounts/record.ts'
import { MICRO_PER_CREDIT } from '../core/amount.ts'
import { HOUR_MS } from '../core/time.ts'
import { CHEAPEST_MINUTE } from '../metering/tariff.ts'

/** As the admin API tells it; Unix ms. */
export interface KeyTimes {
  readonly expires: number | null
  readonly revoked: number | null
  /** Hash of the key that replaced it by rotation, which also set `expires`, or `revoked` where there was no grace. */
  readonly replaced_by: string | null
  /** What is left of its cap; left out where there is none, or nobody knows. */
  readonly cap_remaining?: string | null | undefined
}

/** As the admin API tells it. */
export interface KeyBounds {
  readonly kind: string
  readonly products: readonly string[]
  /** Credits, exact. */
  readonly cap: string | null
  readonly cap_remaining?: string | null | undefined
  readonly ranges: readonly string[] | null
}

/**
 * `active`, `active until …`, `replaced, works until …`, `replaced, ended …`, `expired …`, `revoked …`; of one that works,
 * but has spent its cap, that comes first.
 */
export function keyState(key: KeyTimes, nowMs: number): string {
  const state = stateByTime(key, nowMs)
  const isSpent = key.cap_remaining != null && Number(key.cap_remaining) * MICRO_PER_CREDIT < CHEAPEST_MINUTE
  return isSpent && (key.expires ?? nowMs + 1) > nowMs && key.revoked === null ? `cap spent, ${state}` : state
}

function stateByTime({ expires, revoked, replaced_by: successor }: KeyTimes, nowMs: number): string {
  const isReplaced = successor !== null
  if (revoked !== null) return `${isReplaced ? 'replaced, ' : ''}revoked ${timeText(revoked)}`
  if (expires === null) return isReplaced ? 'replaced' : 'active'
  if (expires <= nowMs) return `${isReplaced ? 'replaced, ended' : 'expired'} ${timeText(expires)}`
  const until = expires - nowMs < HOUR_MS ? secondText(expires) : timeText(expires)
  return `${isReplaced ? 'replaced, works' : 'active'} until ${until}`
}

/** What of a key is less than all that its kind may, so that one which is active may be refused; empty where nothing is. */
export function keyLimits({ kind, products, cap, cap_remaining: left, ranges }: KeyBounds): string {
  const isWhole =
    (PRODUCTS_OF_KIND as Record<string, readonly string[]>)[kind]?.every((product) => products.includes(product)) ??
    true
  const parts = [
    cap === null ? [] : [`cap ${cap}${left == null ? '' : ` (${left} left)`}`],
    isWhole ? [] : products,
    ranges ?? [],
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join(', '))
    .join('; ')
}

/** What a `Date` can hold; a key may be told to expire later. */
const LAST_MS = 8.64e15

/** To the minute, in UTC, as `--expires` takes it. */
export function timeText(ms: number): string {
  return secondText(ms).replace(/:\d\dZ$/, 'Z')
}

/** To the second, in UTC. */
export function secondText(ms: number): string {
  return new Date(Math.max(-LAST_MS, Math.min(ms, LAST_MS))).toISOString().replace(/\.\d+Z$/, 'Z')
}
