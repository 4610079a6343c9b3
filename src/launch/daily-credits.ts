// How many credits the demo account of `npm start` gets on a UTC day, under which name.
// Invariant: the grants of a UTC day have one id, so that restarts give nothing more.

import { formatCredits, MICRO_PER_CREDIT, parseCredits } from '../credit/amount.ts'

/** The balance to which the demo account is filled up each UTC day. */
export const DAILY_CREDITS = 1_000

interface DemoBalance {
  /** Unix ms. */
  readonly created: number
  /** Decimal text. */
  readonly balance: string
}

/** The grant of today as the admin API takes it; null where the account was made today or is full. */
export function dailyGrant({ created, balance }: DemoBalance, nowMs: number) {
  const left = parseCredits(balance)
  const missing = left.ok ? DAILY_CREDITS * MICRO_PER_CREDIT - left.value : 0
  if (missing <= 0 || utcDay(created) === utcDay(nowMs)) return null
  return { idempotency_key: `npm-start-${utcDay(nowMs)}`, credits: formatCredits(missing) }
}

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
