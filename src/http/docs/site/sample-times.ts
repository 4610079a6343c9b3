// Times of samples, relative to the moment when a sample runs.

import { Ago } from '../../../console/requests/request-form.ts'

const HOUR_MS = 3_600_000

/** The example request with times relative to now: windows of a day, or of an hour of candles. */
export function recentTimes(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const windowMs = 'interval' in request ? HOUR_MS : 24 * HOUR_MS
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => {
      if (name === 'startTime') return [name, new Ago(windowMs)]
      if (name === 'endTime') return [name, new Ago(0)]
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      return [name, isObject ? recentTimes(value as Record<string, unknown>) : value]
    }),
  )
}
