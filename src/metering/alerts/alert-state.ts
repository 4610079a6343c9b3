// Decides when an alert fires and when it is resolved. Invariants (test/metering/alerts/alerts.test.ts): a rule fires when its
// condition becomes true, and again only after it was resolved or after the cooldown; it is resolved once; a reading
// between the two limits changes nothing; the same readings at the same times give the same alerts.

import { MINUTE_MS } from '../../core/time.ts'
import type { AlertCondition } from './alert-rule.ts'
import type { WindowSums } from './call-minutes.ts'

/** `met`: the condition is true. `clear`: it is false by a margin. `near`: neither. */
export type Reading = 'met' | 'near' | 'clear'

export interface AlertState {
  readonly isFiring: boolean
  /** Time of the last alert, Unix ms; null: none. */
  readonly firedMs: number | null
}

export const QUIET: AlertState = { isFiring: false, firedMs: null }

/** Returns `state` itself if nothing changed. `type`: the alert to send. */
export function nextState(
  state: AlertState,
  reading: Reading,
  cooldownMinutes: number,
  nowMs: number,
): { readonly state: AlertState; readonly type: 'alert.fired' | 'alert.resolved' | null } {
  const { isFiring, firedMs } = state
  if (reading === 'met' && (!isFiring || nowMs >= repeatMs(state, cooldownMinutes)))
    return { state: { isFiring: true, firedMs: nowMs }, type: 'alert.fired' }
  if (reading === 'clear' && isFiring) return { state: { isFiring: false, firedMs }, type: 'alert.resolved' }
  return { state, type: null }
}

/** Time from which a firing alert is repeated; infinite if it is not firing. */
export function repeatMs({ isFiring, firedMs }: AlertState, cooldownMinutes: number): number {
  return isFiring && firedMs !== null ? firedMs + cooldownMinutes * MINUTE_MS : Number.POSITIVE_INFINITY
}

/**
 * Time of the next check of a firing alert while nothing is reported. A check may change nothing, so the next one is a
 * minute after it; otherwise the alarm would fire in a loop.
 */
export const recheckMs = (checkedMs: number, repeatsMs: number) => Math.max(repeatsMs, checkedMs + MINUTE_MS)

/** An alert whose share falls to this part of its limit is resolved. */
const CLEAR_PART = 0.8

const reading = (isMet: boolean, isClear: boolean): Reading => (isMet ? 'met' : isClear ? 'clear' : 'near')

type CallCondition = Extract<AlertCondition, { readonly minutes: number }>

/** Reading of a condition about calls, from the sums of its window. */
export function readCalls(condition: CallCondition, sums: WindowSums): Reading {
  switch (condition.type) {
    case 'errors': {
      const share = errorsOf(condition.statuses, sums) * 100
      const limit = condition.percent * sums.calls
      return reading(
        sums.calls >= condition.calls && share > limit,
        share <= limit * CLEAR_PART || 2 * sums.calls < condition.calls,
      )
    }
    case 'rate_limited':
      return reading(sums.limited >= condition.calls, 2 * sums.limited < condition.calls)
    case 'limit_use':
      return reading(sums.use > condition.percent * 10, sums.use <= condition.percent * 10 * CLEAR_PART)
  }
}

export function errorsOf(statuses: '4xx' | '5xx' | 'any', { refused, failed }: WindowSums): number {
  return statuses === '4xx' ? refused : statuses === '5xx' ? failed : refused + failed
}

/**
 * Reading of a balance, all in micro-credits. `level`: where the alert fires. `most`: highest balance in the period, above
 * which a percentage of it cannot be resolved.
 */
export function readBalance(left: number, level: number, most: number): Reading {
  // An account that never had credits cannot run low.
  if (most === 0) return 'clear'
  const margin = Math.ceil(level / 10)
  return reading(left <= level, left > level + (most > level ? Math.min(margin, (most - level) / 2) : margin))
}

/** Reading of a forecast: credits end at `endMs`; infinite: they do not end. */
export function readForecast(endMs: number, days: number, nowMs: number): Reading {
  const leftDays = (endMs - nowMs) / (24 * 60 * MINUTE_MS)
  return reading(leftDays <= days, leftDays > days + Math.max(0.5, days / 4))
}
