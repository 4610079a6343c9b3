// The burn-down chart of an account: balance per day, and a forecast. Invariants: grants and expiries are steps at the
// start of a day, so slopes show spending only; zero is the bottom, and no balance is above the top; the history ends at
// the current balance; the chart reaches the time at which the credits run out or expire, and the forecast is zero there.

import { DAY_MS } from '../../core/time.ts'
import { axisSteps } from '../ui/chart-scale.ts'
import { microOf } from './account-view.ts'
import type { Account, BalanceDay } from './responses.ts'

/** A balance at a time. */
export interface BalancePoint {
  readonly atMs: number
  readonly micro: number
}

export interface BurnDown {
  readonly fromMs: number
  /** Unix ms at the right edge. */
  readonly endMs: number
  readonly history: readonly BalancePoint[]
  /** Null if credits do not run out. */
  readonly forecast: readonly BalancePoint[] | null
  /** Micro-credits of the horizontal lines, from 0 to the top. */
  readonly steps: readonly number[]
}

/** `days`: oldest first without gaps, ending today; at least one. */
export function burnDown(
  days: readonly BalanceDay[],
  { balance, credits_a_day: perDay, forecast }: Pick<Account, 'balance' | 'credits_a_day' | 'forecast'>,
  nowMs: number,
): BurnDown {
  const fromMs = Date.parse(`${days[0]?.date}T00:00:00Z`)
  const ends = forecast.why === 'used_up' ? forecast.ends : null
  const endMs = Math.max(ends ?? nowMs, nowMs, fromMs + 1)
  const left = Number(microOf(balance))
  const history = days.flatMap(({ opening, granted, expired, closing }, i) => {
    const began = Number(microOf(opening) + microOf(granted) - microOf(expired))
    const ended = i === days.length - 1 ? left : Number(microOf(closing))
    const atMs = fromMs + i * DAY_MS
    return [
      { atMs, micro: began },
      { atMs: Math.min(atMs + DAY_MS, Math.max(nowMs, atMs)), micro: ended },
    ]
  })
  const fallen = Math.max(0, left - (Number(microOf(perDay)) * (endMs - nowMs)) / DAY_MS)
  const ahead = [
    { atMs: nowMs, micro: left },
    { atMs: endMs, micro: fallen },
    { atMs: endMs, micro: 0 },
  ]
  return {
    fromMs,
    endMs,
    history,
    forecast: ends === null ? null : ahead,
    steps: axisSteps(Math.max(...history.map(({ micro }) => micro), left)),
  }
}

/** The SVG path of these points in a plane of this size; balances below zero are drawn as zero. */
export function balancePath(
  points: readonly BalancePoint[],
  { fromMs, endMs, steps }: Pick<BurnDown, 'fromMs' | 'endMs' | 'steps'>,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const top = steps.at(-1) ?? 1
  const x = (atMs: number) => roundToTenth(((atMs - fromMs) / (endMs - fromMs)) * width)
  const y = (micro: number) => roundToTenth(height - (Math.max(0, micro) / top) * height)
  return points.map(({ atMs, micro }, i) => `${i === 0 ? 'M' : 'L'}${x(atMs)} ${y(micro)}`).join('')
}

const roundToTenth = (of: number) => Math.round(of * 10) / 10
