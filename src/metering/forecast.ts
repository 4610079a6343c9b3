// Forecasts when an account's credits run out at its recent rate. Invariants (test/metering/forecast.test.ts): all
// amounts are integer micro-credits; plan credits are spent first and expire with their period; the forecast equals the
// day on which a ledger that is charged evenly reaches zero; if the credits last forever, or longer than ten years, the
// reason is returned instead.

import type { MicroCredits } from '../core/amount.ts'
import { DAY_MS } from '../core/time.ts'
import { type AccountState, remainingOf } from './account-state.ts'
import { renewalAfter } from './plans/calendar.ts'
import { type PlanState, unspentOfPlan } from './plans/plan-period.ts'

/** Balance of an account, the part of it that comes from the plan, and later renewals. */
export interface ForecastInput {
  readonly left: MicroCredits
  /** Expires with the plan's period. */
  readonly ofPlan: MicroCredits
  /** Unix ms; null: the period has no end. */
  readonly untilMs: number | null
  /** Start of the plan; later periods end on its day of the month. */
  readonly anchorMs: number
  /** Credits of each later period, 0 if the plan does not renew. */
  readonly everyMicro: MicroCredits
}

/**
 * For a balance of 0, the end is now. `unused`: no spending. `renewed`: the plan grants more than is spent. `far`: not
 * within ten years.
 */
export type Forecast =
  | { readonly ends: true; readonly atMs: number }
  | { readonly ends: false; readonly why: 'unused' | 'renewed' | 'far' }

const FAR_MS = 3_653 * DAY_MS

export function forecastEnd(standing: ForecastInput, perDay: MicroCredits, nowMs: number): Forecast {
  if (standing.left <= 0) return { ends: true, atMs: nowMs }
  const { untilMs, anchorMs, everyMicro } = standing
  if (perDay <= 0) return unusedUntil(standing)
  let ofPlan = BigInt(standing.ofPlan)
  let granted = BigInt(standing.left) - ofPlan
  let sinceMs = nowMs
  let endMs = untilMs
  for (;;) {
    const emptyMs = sinceMs + msUntil(ofPlan + granted, perDay)
    if (endMs === null || emptyMs < endMs) return emptyMs - nowMs > FAR_MS ? FAR : { ends: true, atMs: emptyMs }
    if (endMs - nowMs > FAR_MS) return FAR
    const used = spentIn(endMs - sinceMs, perDay)
    const grantedAfter = used > ofPlan ? granted - (used - ofPlan) : granted
    if (everyMicro > 0 && grantedAfter === granted && spentIn(31 * DAY_MS, perDay) <= BigInt(everyMicro)) return RENEWED
    granted = grantedAfter
    ofPlan = BigInt(everyMicro)
    // The plan ended and nothing else is left.
    if (ofPlan + granted <= 0n) return { ends: true, atMs: endMs }
    sinceMs = endMs
    endMs = everyMicro > 0 ? renewalAfter(anchorMs, sinceMs) : null
  }
}

const RENEWED: Forecast = { ends: false, why: 'renewed' }
const FAR: Forecast = { ends: false, why: 'far' }

/** Without spending, the credits run out only if the plan does not renew and nothing else is left. */
function unusedUntil({ left, ofPlan, untilMs, everyMicro }: ForecastInput): Forecast {
  if (untilMs !== null && everyMicro === 0 && left === ofPlan) return { ends: true, atMs: untilMs }
  return { ends: false, why: 'unused' }
}

/** Whole ms until this amount is spent. */
function msUntil(amount: bigint, perDay: MicroCredits): number {
  const day = BigInt(perDay)
  return Number((amount * BigInt(DAY_MS) + day - 1n) / day)
}

function spentIn(ms: number, perDay: MicroCredits): bigint {
  return (BigInt(ms) * BigInt(perDay)) / BigInt(DAY_MS)
}

/** Average daily spending over whole days, oldest first. Days before the first use are ignored. */
export function averageDay(days: readonly MicroCredits[]): MicroCredits {
  const first = days.findIndex((amount) => amount > 0)
  if (first < 0) return 0
  const used = days.slice(first)
  return Number(used.reduce((sum, amount) => sum + BigInt(amount), 0n) / BigInt(used.length))
}

/** One week, because weekends are quieter. */
const AVERAGED_DAYS = 7

/** Starts of the last seven whole UTC days, and of today. */
export function averagedDays(nowMs: number): readonly number[] {
  const today = nowMs - (nowMs % DAY_MS)
  return Array.from({ length: AVERAGED_DAYS + 1 }, (_, i) => today - (AVERAGED_DAYS - i) * DAY_MS)
}

/** Forecast of an account. `plan`: null if it has none. `spent`: spending on each of `averagedDays`. */
export function accountForecast(
  sums: AccountState,
  plan: PlanState | null,
  spent: readonly MicroCredits[],
  nowMs: number,
): { readonly forecast: Forecast; readonly perDay: MicroCredits; readonly ofPlan: MicroCredits } {
  const over = averageDay(spent.slice(0, AVERAGED_DAYS))
  // On its first day, an account does not have a full day yet.
  const perDay = over > 0 ? over : (spent.at(-1) ?? 0)
  const left = remainingOf(sums)
  // Leased credits are not spent yet. They count as plan credits as long as the plan has credits left.
  const ofPlan = plan === null ? 0 : unspentOfPlan({ ...sums, available: left, held: 0 }, plan)
  const period = { untilMs: plan?.untilMs ?? null, anchorMs: plan?.anchorMs ?? nowMs }
  const standing = { left, ofPlan, ...period, everyMicro: plan?.everyMicro ?? 0 }
  return { forecast: forecastEnd(standing, perDay, nowMs), perDay, ofPlan }
}
