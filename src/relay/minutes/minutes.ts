// The minutes of one subscription. Invariant: minute n is requested after it has started (the first one before the ack),
// and always under the same number.

import type { MicroCredits } from '../../core/amount.ts'
import type { KeyHash } from '../../core/ids.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { MinuteCharge, StreamEnd } from '../../metering/streams/stream-api.ts'
import { UNPAID_MINUTES } from '../../metering/streams/stream-ledger.ts'

export interface Minutes {
  /** Unique in its relay. */
  readonly id: string
  readonly keyHash: KeyHash
  /** Wire type for the usage records. */
  readonly type: string
  readonly price: MicroCredits
  /** Digest of the body. A wildcard takeover replaces it. */
  body: string
  /** Start of the first minute. A subscription that resumed the rest of an earlier minute started later. */
  sinceMs: number
  /** Paid minutes, counted from `sinceMs`. */
  paid: number
  /** Set while the paid data has not arrived, which pauses the minute. */
  paused?: { readonly sinceMs: number; readonly maxMs: number } | undefined
  /** Shortened body for the account's owner; sent once. */
  readonly preview?: string
  /** Hourly limit that all visitors without a key share. Set only if this visitor has no key. */
  readonly visitorsPerHour?: MicroCredits | undefined
}

/** Length of a body in a list of running subscriptions. */
export const PREVIEW_CHARS = 200

/** Pauses the minute until its data arrives, for at most `maxMs`. */
export function pauseMinute(minutes: Minutes, nowMs: number, maxMs: number): void {
  resumeMinute(minutes, nowMs)
  minutes.paused = { sinceMs: nowMs, maxMs }
}

/** Resumes a paused minute. */
export function resumeMinute(minutes: Minutes, nowMs: number): void {
  minutes.sinceMs += pausedMs(minutes, nowMs)
  minutes.paused = undefined
}

function pausedMs({ paused }: Minutes, nowMs: number): number {
  return paused === undefined ? 0 : Math.min(paused.maxMs, nowMs - paused.sinceMs)
}

/** The charge of the first minute, before the ack. */
export function firstCharge(
  relay: string,
  { id, keyHash, type, price, body, preview, visitorsPerHour }: Minutes,
): MinuteCharge {
  const charge = { subscription: `${relay}/${id}`, ordinal: 0, count: 1, keyHash, type, amount: price }
  return { ...charge, body, leftMs: MINUTE_MS, shown: preview, visitorsPerHour }
}

/** Charge of all minutes that have started and are unpaid; null if there are none. */
export function dueCharge(relay: string, minutes: Minutes, nowMs: number): MinuteCharge | null {
  const { id, keyHash, type, price, body, visitorsPerHour } = minutes
  const ageMs = nowMs - minutes.sinceMs - pausedMs(minutes, nowMs)
  const started = Math.ceil(ageMs / MINUTE_MS)
  if (started <= minutes.paid) return null
  const count = started - minutes.paid
  const charge = { subscription: `${relay}/${id}`, ordinal: started - 1, count, keyHash, type, amount: price }
  return { ...charge, body, leftMs: started * MINUTE_MS - ageMs, visitorsPerHour }
}

/**
 * Whether unpaid minutes must be paid now. Small amounts wait, because each payment is written. Visitors share a budget,
 * so their minutes never wait.
 */
export function mustPay(charges: readonly MinuteCharge[], unpaidMax: MicroCredits): boolean {
  const unpaid = charges.reduce((sum, { amount, count }) => sum + amount * count, 0)
  const isUrgent = ({ count, visitorsPerHour }: MinuteCharge) =>
    count >= UNPAID_MINUTES || visitorsPerHour !== undefined
  return unpaid > unpaidMax || charges.some(isUrgent)
}

/** Report of a subscription that ends now with everything paid. `isUnserved`: we could not serve it. */
export function endReport(relay: string, ended: Minutes, nowMs: number, isUnserved = false): StreamEnd {
  const { id, type, price: amount, body, paid } = ended
  const sinceMs = ended.sinceMs + pausedMs(ended, nowMs)
  const minutes = Math.max(paid, Math.ceil((nowMs - sinceMs) / MINUTE_MS))
  const end = { subscription: `${relay}/${id}`, body, leftMs: sinceMs + minutes * MINUTE_MS - nowMs }
  return isUnserved ? { ...end, unserved: { type, amount } } : end
}

/**
 * Restores minutes after hibernation, when only their start is known. All that may be unpaid are requested again, which
 * is harmless.
 */
export function restoredMinutes(minutes: Omit<Minutes, 'paid'>, nowMs: number): Minutes {
  const current = Math.floor((nowMs - minutes.sinceMs) / MINUTE_MS)
  return { ...minutes, paid: Math.max(0, current - UNPAID_MINUTES) }
}
