// When an account's credits end, if it goes on as in the last days. Laws (test/metering/forecast.test.ts): integers of
// micro-credits throughout; a plan's credits are spent first, and what its period has left ends with it; the day told is the
// one on which a ledger that is charged so much each day runs dry; where that never comes, or not within ten years, it is said why.

import type { MicroCredits } from '../core/amount.ts'
import { DAY_MS } from '../core/time.ts'
import { renewalAfter } from './plans/calendar.ts'

/** How an account stands: what of its balance is its plan's, and what comes later. */
export interface ForecastInput {
  readonly left: MicroCredits
  /** What ends with the plan's period. */
  readonly ofPlan: MicroCredits
  /** Unix ms; null: the period has no end. */
  readonly untilMs: number | null
  /** The plan's day; later periods end on it. */
  readonly anchorMs: number
  /** What each later period brings, 0 where the plan does not renew. */
  readonly everyMicro: MicroCredits
}

/** `spent`: nothing is left now. `unused`: nothing is spent. `renewed`: the plan brings more than is spent. `far`: not within ten years. */
export type Forecast =
  | { readonly ends: true; readonly atMs: number }
  | { readonly ends: false; readonly why: 'unused' | 'renewed' | 'far' }

const FAR_MS = 3_653 * DAY_MS

export function forecastEnd(standing: ForecastInput, perDay: MicroCredits, nowMs: number): Forecast {
  if (standing.left <= 0) return { ends: true, atMs: nowMs }
  const { untilMs, anchorMs, everyMicro } = standing
  if (perDay <= 0) return unusedUntil(standing)
  let ofPlan = BigInt(standing.ofPlan)
  let beside = BigInt(standing.left) - ofPlan
  let sinceMs = nowMs
  let endMs = untilMs
  for (;;) {
    const dryMs = sinceMs + msUntil(ofPlan + beside, perDay)
    if (endMs === null || dryMs < endMs) return dryMs - nowMs > FAR_MS ? FAR : { ends: true, atMs: dryMs }
    if (endMs - nowMs > FAR_MS) return FAR
    const used = spentIn(endMs - sinceMs, perDay)
    const besideAfter = used > ofPlan ? beside - (used - ofPlan) : beside
    if (everyMicro > 0 && besideAfter === beside && spentIn(31 * DAY_MS, perDay) <= BigInt(everyMicro)) return RENEWED
    beside = besideAfter
    ofPlan = BigInt(everyMicro)
    // A plan that ended with nothing beside it has run dry at its end.
    if (ofPlan + beside <= 0n) return { ends: true, atMs: endMs }
    sinceMs = endMs
    endMs = everyMicro > 0 ? renewalAfter(anchorMs, sinceMs) : null
  }
}

const RENEWED: Forecast = { ends: false, why: 'renewed' }
const FAR: Forecast = { ends: false, why: 'far' }

/** Nothing is spent: credits end only with a plan that brings no more and leaves nothing beside it. */
function unusedUntil({ left, ofPlan, untilMs, everyMicro }: ForecastInput): Forecast {
  if (untilMs !== null && everyMicro === 0 && left === ofPlan) return { ends: true, atMs: untilMs }
  return { ends: false, why: 'unused' }
}

/** Whole ms after which so much is spent. */
function msUntil(amount: bigint, perDay: MicroCredits): number {
  const day = BigInt(perDay)
  return Number((amount * BigInt(DAY_MS) + day - 1n) / day)
}

function spentIn(ms: number, perDay: MicroCredits): bigint {
  return (BigInt(ms) * BigInt(perDay)) / BigInt(DAY_MS)
}

/** What a day costs on average of these whole days, oldest first; days before the first use do not count. */
export function averageDay(days: readonly MicroCredits[]): MicroCredits {
  const first = days.findIndex((amount) => amount > 0)
  if (first < 0) return 0
  const used = days.slice(first)
  return Number(used.reduce((sum, amount) => sum + BigInt(amount), 0n) / BigInt(used.length))
}
