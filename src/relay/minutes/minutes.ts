// The minutes of one subscription. Law: minute n of a subscription is asked for once it has started (the first one
// before the ack) and under the same number however often it is asked for.

import type { MicroCredits } from '../../core/amount.ts'
import type { KeyHash } from '../../core/ids.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { MinuteCharge, StreamEnd } from '../../metering/streams/stream-api.ts'

/** The paid time of one subscription. */
export interface Minutes {
  /** Unique in its relay for ever. */
  readonly id: string
  readonly keyHash: KeyHash
  /** Wire type that usage is recorded under. */
  readonly type: string
  readonly price: MicroCredits
  /** Digest of the body; another wildcard that takes over brings its own. */
  body: string
  /** When the first minute began; earlier than the subscription where that was the rest of another's. */
  sinceMs: number
  /** Minutes paid, counted from `sinceMs`. */
  paid: number
  /** While what was paid for is yet to come: the minute stands still. */
  paused?: { readonly sinceMs: number; readonly mostMs: number } | undefined
  /** Its body for its owner to read; told once. */
  readonly preview?: string
  /** A visitor without a key has it: all of them together may spend so much an hour. */
  readonly visitorsPerHour?: MicroCredits | undefined
}

/** Of a body in a list of what runs. */
export const PREVIEW_CHARS = 200

/** What was paid for is yet to come: the minute stands still until then, for `mostMs` at most. */
export function pauseMinute(minutes: Minutes, nowMs: number, mostMs: number): void {
  resumeMinute(minutes, nowMs)
  minutes.paused = { sinceMs: nowMs, mostMs }
}

/** All has come. */
export function resumeMinute(minutes: Minutes, nowMs: number): void {
  minutes.sinceMs += pausedMs(minutes, nowMs)
  minutes.paused = undefined
}

function pausedMs({ paused }: Minutes, nowMs: number): number {
  return paused === undefined ? 0 : Math.min(paused.mostMs, nowMs - paused.sinceMs)
}

/** The charge of the first minute, which comes before the ack. */
export function firstCharge(
  relay: string,
  { id, keyHash, type, price, body, preview: shown, visitorsPerHour }: Minutes,
): MinuteCharge {
  const place = { subscription: `${relay}/${id}`, ordinal: 0, keyHash, type, amount: price }
  return { ...place, body, leftMs: MINUTE_MS, shown, visitorsPerHour }
}

/** Charges of all minutes that have started and are not paid. */
export function dueCharges(relay: string, minutes: Minutes, nowMs: number): MinuteCharge[] {
  const { id, keyHash, type, price, body, visitorsPerHour } = minutes
  const sinceMs = minutes.sinceMs + pausedMs(minutes, nowMs)
  const charges: MinuteCharge[] = []
  for (let ordinal = minutes.paid; sinceMs + ordinal * MINUTE_MS < nowMs; ordinal++) {
    const leftMs = Math.max(0, sinceMs + (ordinal + 1) * MINUTE_MS - nowMs)
    const place = { subscription: `${relay}/${id}`, ordinal, keyHash, type, amount: price }
    charges.push({ ...place, body, leftMs, visitorsPerHour })
  }
  return charges
}

/** What is told of a subscription that ends now, when all it owes is paid; `isUnserved`: we could not serve it. */
export function endReport(relay: string, one: Minutes, nowMs: number, isUnserved = false): StreamEnd {
  const { id, type, price: amount, body, paid } = one
  const sinceMs = one.sinceMs + pausedMs(one, nowMs)
  const minutes = Math.max(paid, Math.ceil((nowMs - sinceMs) / MINUTE_MS))
  const end = { subscription: `${relay}/${id}`, body, leftMs: sinceMs + minutes * MINUTE_MS - nowMs }
  return isUnserved ? { ...end, unserved: { type, amount } } : end
}

/** Minutes as they stand when a relay wakes and remembers only when they began: the present one is asked for again, which is harmless. */
export function restoredMinutes(minutes: Omit<Minutes, 'paid'>, nowMs: number): Minutes {
  return { ...minutes, paid: Math.max(0, Math.floor((nowMs - minutes.sinceMs) / MINUTE_MS)) }
}
