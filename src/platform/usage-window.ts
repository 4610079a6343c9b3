// The window of a usage report: `duration` in months, or `from` and `to` as UTC days, both included.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { monthsBefore } from '../credit/plans/calendar.ts'
import { badField } from './refusal.ts'

const DAY_MS = 86_400_000
const DURATIONS = ['1', '3', '6', '12'] as const
/** Usage is kept for 400 days. */
const LONGEST_DAYS = 400
const NO_DAY = 'must be a UTC day such as 2026-01-31'

export const Day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, { error: NO_DAY, abort: true })
  .refine((text) => dayMs(text) !== null, NO_DAY)
  .describe('A UTC day')

const FIELDS = {
  duration: z
    .enum(DURATIONS, `must be ${DURATIONS.join(', ')} (months)`)
    .optional()
    .describe('Months back from today; goes without `from` and `to`'),
  from: Day.optional().describe('First UTC day; needs no `to`, which is today then'),
  to: Day.optional().describe('Last UTC day, included; at most 400 days after `from`'),
}

/** What a report is asked for with. */
export const UsageQuery = z.looseObject(FIELDS).check(({ value, issues }) => {
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(FIELDS, name))
  if (unknown === undefined) return
  const message = `is not known: send ${Object.keys(FIELDS).join(', ')}`
  issues.push({ code: 'custom', path: [unknown.slice(0, 64)], message, input: undefined })
})

/** Unix ms at 00:00 UTC; `toMs` is the end of the last day. */
export interface UsageWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Without any parameter the last month. The refusal names the parameter. */
export function usageWindow(
  { duration, from, to }: z.infer<typeof UsageQuery>,
  nowMs: number,
): Result<UsageWindow, Failure> {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  if (from === undefined && to === undefined) {
    return ok({ fromMs: monthsBefore(today, Number(duration ?? 1)), toMs: today + DAY_MS })
  }
  if (duration !== undefined) return err(badField('duration', 'goes without "from" and "to"'))
  const first = from === undefined ? null : dayMs(from)
  if (first === null) return err(badField('from', NO_DAY))
  const last = to === undefined ? today : (dayMs(to) ?? today)
  if (last < first) return err(badField('from', 'must not be after "to"'))
  if (last - first >= LONGEST_DAYS * DAY_MS) return err(badField('from', `must be within ${LONGEST_DAYS} days of "to"`))
  return ok({ fromMs: first, toMs: last + DAY_MS })
}

/** A day as reports write it. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function dayMs(text: string): number | null {
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) || dayText(ms) !== text ? null : ms
}
