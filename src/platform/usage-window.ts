// The window of a usage report: `duration` in months, or `from` and `to` as UTC days, both included.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { monthsBefore } from '../credit/plans/calendar.ts'

const DAY_MS = 86_400_000
const DURATIONS = ['1', '3', '6', '12']
/** Usage is kept for 400 days. */
const LONGEST_DAYS = 400
const KNOWN = ['duration', 'from', 'to']

/** Unix ms at 00:00 UTC; `toMs` is the end of the last day. */
export interface UsageWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Without any parameter the last month. The refusal names the parameter. */
export function usageWindow(query: Readonly<Record<string, string>>, nowMs: number): Result<UsageWindow, Failure> {
  const unknown = Object.keys(query).find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) return bad(unknown.slice(0, 64), `is not known: send ${KNOWN.join(', ')}`)
  const { duration, from, to } = query
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  if (from === undefined && to === undefined) {
    if (!DURATIONS.includes(duration ?? '1')) return bad('duration', `must be ${DURATIONS.join(', ')} (months)`)
    return ok({ fromMs: monthsBefore(today, Number(duration ?? 1)), toMs: today + DAY_MS })
  }
  if (duration !== undefined) return bad('duration', 'goes without "from" and "to"')
  const first = from === undefined ? null : dayOf(from)
  if (first === null) return bad('from', 'must be a UTC day such as 2026-01-31')
  const last = to === undefined ? today : dayOf(to)
  if (last === null) return bad('to', 'must be a UTC day such as 2026-01-31')
  if (last < first) return bad('from', 'must not be after "to"')
  if (last - first >= LONGEST_DAYS * DAY_MS) return bad('from', `must be within ${LONGEST_DAYS} days of "to"`)
  return ok({ fromMs: first, toMs: last + DAY_MS })
}

/** A day as reports write it. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function dayOf(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) || dayText(ms) !== text ? null : ms
}

function bad(path: string, message: string): Result<never, Failure> {
  return err({ kind: 'bad_field', issues: [{ path, message }] })
}
