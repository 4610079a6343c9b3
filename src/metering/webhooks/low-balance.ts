// When the owner of an account is told that its credits run low. Laws (test/metering/webhooks/low-balance.test.ts): a threshold
// is told once when the balance falls to it or below, or is there when the threshold is set, and again only after the
// balance was above it: after a top-up, a renewal or another plan. What an account has left is what is available and what leases hold.

import { MICRO_PER_CREDIT, type MicroCredits, parseCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'

/** `name` as an operator writes it: `"20%"` of the most that the account had in its period, `"1000"` credits, `"0"`. */
export interface Threshold {
  readonly name: string
  readonly of: 'percent' | 'micro'
  readonly amount: number
}

/** What is remembered between decisions. */
export interface LowBalanceWatch {
  /** The most that the account had since its period began: what percents are taken of. */
  readonly mostMicro: MicroCredits
  /** Names of the thresholds that the balance was above when last looked at. */
  readonly armed: readonly string[]
}

export const DEFAULT_THRESHOLDS = ['20%', '5%', '0']
export const THRESHOLDS_MAX = 10

/** Reads one threshold; the error says what to write instead. */
export function parseThreshold(name: string): Result<Threshold, string> {
  const percent = /^([1-9]\d?)%$/.exec(name)?.[1]
  if (percent !== undefined) return ok({ name, of: 'percent', amount: Number(percent) })
  const micro = name.endsWith('%') ? err('') : parseCredits(name)
  if (!micro.ok) return err('must be whole percents from "1%" to "99%", or credits such as "1000" or "0"')
  return ok({ name, of: 'micro', amount: micro.value })
}

/** Reached at or below. Nought is reached below one credit, the price of a call: what buys nothing may be left. */
export function levelOf({ of, amount }: Threshold, mostMicro: MicroCredits): MicroCredits {
  if (of === 'micro') return amount === 0 ? MICRO_PER_CREDIT - 1 : amount
  // In two steps, because a balance times a percentage may leave exact integers.
  return Math.floor(mostMicro / 100) * amount + Math.floor(((mostMicro % 100) * amount) / 100)
}

/** In place of `before`: what that had told is told. Of an account that never had anything nothing can run low. */
export function startWatch(
  thresholds: readonly Threshold[],
  mostMicro: MicroCredits,
  before: { readonly thresholds: readonly Threshold[]; readonly watch: LowBalanceWatch } | null = null,
): LowBalanceWatch {
  const told = before?.thresholds.filter(({ name }) => !before.watch.armed.includes(name)).map(({ name }) => name) ?? []
  const armed = mostMicro === 0 ? [] : thresholds.filter(({ name }) => !told.includes(name)).map(({ name }) => name)
  return { mostMicro: Math.max(mostMicro, before?.watch.mostMicro ?? 0), armed }
}

/** After a decision: what to remember, and the thresholds that were just reached, the highest first. */
export function watchBalance(
  before: LowBalanceWatch,
  thresholds: readonly Threshold[],
  left: MicroCredits,
  isNewPeriod: boolean,
): { readonly watch: LowBalanceWatch; readonly reached: readonly Threshold[] } {
  const watch = watchAt(thresholds, left, isNewPeriod ? left : Math.max(before.mostMicro, left))
  const reached = thresholds
    .filter(({ name }) => before.armed.includes(name) && !watch.armed.includes(name))
    .sort((a, b) => levelOf(b, before.mostMicro) - levelOf(a, before.mostMicro))
  return { watch, reached }
}

function watchAt(thresholds: readonly Threshold[], left: MicroCredits, mostMicro: MicroCredits): LowBalanceWatch {
  const armed = thresholds.filter((threshold) => left > levelOf(threshold, mostMicro)).map(({ name }) => name)
  return { mostMicro, armed }
}
