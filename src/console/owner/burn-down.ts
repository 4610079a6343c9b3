// The burn-down chart of an account: balance per day, and a forecast. Invariants: grants and expiries are steps at the
// start of a day, so slopes show spending only; the highest balance fills the height and zero is the bottom; the history
// ends at the current balance; the forecast falls by the average daily cost, until credits or the chart end.

import { DAY_MS } from '../../core/time.ts'
import { microOf } from './account-view.ts'
import type { Account, BalanceDay } from './responses.ts'

/** The forecast is at most this many times as long as the history. */
const FORECAST_MAX = 1

export interface BurnDown {
  /** SVG paths; `forecast` is null if credits do not run out. */
  readonly history: string
  readonly forecast: string | null
  readonly nowX: number
  /** Unix ms at the right edge. */
  readonly endMs: number
  /** Micro-credits at the top edge. */
  readonly maxMicro: number
}

/** `days`: oldest first without gaps, ending today; at least one. */
export function burnDown(
  days: readonly BalanceDay[],
  { balance, credits_a_day: perDay, forecast }: Pick<Account, 'balance' | 'credits_a_day' | 'forecast'>,
  nowMs: number,
  { width, height }: { readonly width: number; readonly height: number },
): BurnDown {
  const fromMs = Date.parse(`${days[0]?.date}T00:00:00Z`)
  const ends = forecast.why === 'used_up' ? forecast.ends : null
  const furthestMs = nowMs + Math.max(DAY_MS, (nowMs - fromMs) * FORECAST_MAX)
  const untilMs = ends === null ? nowMs : Math.min(Math.max(ends, nowMs + 1), furthestMs)
  const left = Number(microOf(balance))
  const points = days.flatMap(({ opening, granted, expired, closing }, i) => {
    const began = Number(microOf(opening) + microOf(granted) - microOf(expired))
    const ended = i === days.length - 1 ? left : Number(microOf(closing))
    const atMs = fromMs + i * DAY_MS
    return [
      { atMs, micro: began },
      { atMs: Math.min(atMs + DAY_MS, nowMs), micro: ended },
    ]
  })
  const max = Math.max(...points.map(({ micro }) => micro), 1)
  const x = (atMs: number) => roundToTenth(((atMs - fromMs) / Math.max(1, untilMs - fromMs)) * width)
  const y = (micro: number) => roundToTenth(height - (Math.max(0, micro) / max) * height)
  const path = (line: readonly { readonly atMs: number; readonly micro: number }[]) =>
    line.map(({ atMs, micro }, i) => `${i === 0 ? 'M' : 'L'}${x(atMs)} ${y(micro)}`).join('')
  const fallen = left - (Number(microOf(perDay)) * (untilMs - nowMs)) / DAY_MS
  const end = { atMs: untilMs, micro: ends !== null && ends <= untilMs ? 0 : fallen }
  return {
    history: path(points),
    forecast: ends === null ? null : path([{ atMs: nowMs, micro: left }, end]),
    nowX: x(nowMs),
    endMs: untilMs,
    maxMicro: max,
  }
}

const roundToTenth = (of: number) => Math.round(of * 10) / 10
