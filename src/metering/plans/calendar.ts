// Days and months of plans and reports. When a plan renews: each month at 00:00 UTC of the account's day, which is the
// day of the month on which its plan began; in a shorter month on its last day. Pure integers of Unix ms; UTC
// throughout, so no clock change matters.

import { DAY_MS } from '../../core/time.ts'

/** The first renewal after `nowMs` of a plan that began at `anchorMs`. */
export function renewalAfter(anchorMs: number, nowMs: number): number {
  const day = new Date(anchorMs).getUTCDate()
  const after = Math.max(nowMs, anchorMs)
  const now = new Date(after)
  const year = now.getUTCFullYear()
  const month = now.getUTCMonth()
  const inThis = dayIn(year, month, day)
  return inThis > after ? inThis : dayIn(year, month + 1, day)
}

/** Unix ms after so many whole days. */
export function daysAfter(ms: number, days: number): number {
  return ms + days * DAY_MS
}

/** 00:00 UTC of the same day so many months earlier; in a shorter month of its last day. */
export function monthsBefore(ms: number, months: number): number {
  const date = new Date(ms)
  return dayIn(date.getUTCFullYear(), date.getUTCMonth() - months, date.getUTCDate())
}

function dayIn(year: number, month: number, day: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(day, last))
}
