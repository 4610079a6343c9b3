// Time window of a usage report: `duration` in months, or `from` and `to` as inclusive UTC days.

import * as z from 'zod'
import type { Failure } from '../../core/failure.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { DAY_MS } from '../../core/time.ts'
import { monthsBefore } from '../../metering/plans/calendar.ts'
import { badField } from './refusal.ts'

const DURATIONS = ['1', '3', '6', '12'] as const
/** Retention of usage data. */
export const RETENTION_DAYS = 400
const DAY_RULE = 'must be a UTC date such as 2026-01-31'

export const Day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, { error: DAY_RULE, abort: true })
  .refine((text) => !Number.isNaN(startOf(text)) && dayText(startOf(text)) === text, DAY_RULE)
  .describe('UTC date')

const FIELDS = {
  duration: z
    .enum(DURATIONS, `must be ${DURATIONS.join(', ')} (months)`)
    .optional()
    .describe('Length of the period in months, back from today; cannot be combined with `from` and `to`'),
  from: Day.optional().describe('First UTC day'),
  to: Day.optional().describe('Last UTC day, inclusive; default today; at most 400 days after `from`'),
}

/**
 * Query schema of a report; `more` are its other parameters. Names are validated before values and `from` before `to`,
 * one error at a time.
 */
export const usageQuery = <const More extends z.ZodRawShape>(more: More) =>
  z.preprocess(
    (query: Readonly<Record<string, string>>, { issues }) => {
      const [name, message] = parameterRefusal(query, [...Object.keys(FIELDS), ...Object.keys(more)]) ?? []
      if (name !== undefined) issues.push({ code: 'custom', path: [name], message, input: undefined })
      return query
    },
    z.object({ ...FIELDS, ...more }),
  )

/** Times at 00:00 UTC; `toMs` is the end of the last day. */
export interface UsageWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Window of the query; default: the last month. */
export function usageWindow(
  { duration, from, to }: z.infer<z.ZodObject<typeof FIELDS>>,
  nowMs: number,
): Result<UsageWindow, Failure> {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  if (from === undefined) return ok({ fromMs: monthsBefore(today, Number(duration ?? 1)), toMs: today + DAY_MS })
  const first = startOf(from)
  const last = to === undefined ? today : startOf(to)
  if (last < first) return err(badField('from', `must not be after ${to === undefined ? 'today' : '"to"'}`))
  if (last - first >= RETENTION_DAYS * DAY_MS)
    return err(badField('from', `must be within ${RETENTION_DAYS} days of "to"`))
  return ok({ fromMs: first, toMs: last + DAY_MS })
}

/** ISO date of a time. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Unix ms at 00:00 UTC of a day. */
export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}

/** First parameter that is unknown or not allowed in this combination, and why. */
function parameterRefusal(
  query: Readonly<Record<string, string>>,
  names: readonly string[],
): readonly [string, string] | null {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const meant = nearestName(unknown, names)
    const question = meant === undefined ? '' : `; did you mean "${meant}"?`
    return [unknown.slice(0, 64), `is unknown. Allowed: ${names.join(', ')}${question}`]
  }
  const { duration, from, to } = query
  if (from === undefined && to === undefined) return null
  if (duration !== undefined) return ['duration', 'cannot be combined with "from" and "to"']
  return Day.safeParse(from).success ? null : ['from', DAY_RULE]
}
