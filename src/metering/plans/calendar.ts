// Calendar of plans and reports. A plan renews monthly at 00:00 UTC on the day of the month it started, or on the last
// day of a shorter month. All times are integer Unix ms in UTC, so daylight saving time is irrelevant.

import { DAY_MS } from '../../core/time.ts'

/** First renewal after `nowMs` of a plan that started at `anchorMs`. */
export function renewalAfter(anchorMs: number, nowMs: number): number {
  const day = new Date(anchorMs).getUTCDate()
  const after = Math.max(nowMs, anchorMs)
  const now = new Date(after)
  const year = now.getUTCFullYear()
  const month = now.getUTCMonth()
  const inThis = dayIn(year, month, day)
  return inThis > after ? inThis : dayIn(year, month + 1, day)
}

/** Adds whole days. */
export function daysAfter(ms: number, days: number): number {
  return ms + days * DAY_MS
}

/** 00:00 UTC of the same day of the month, `months` earlier. If that month is shorter, its last day. */
export function monthsBefore(ms: number, months: number): number {
  const date = new Date(ms)
  return dayIn(date.getUTCFullYear(), date.getUTCMonth() - months, date.getUTCDate())
}

function dayIn(year: number, month: number, day: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(day, last))
}
