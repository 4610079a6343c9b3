// Low-balance notifications for account owners. Invariants (test/metering/webhooks/low-balance.test.ts): a threshold
// fires once when the balance falls to it or below, or when the owner sets it above the balance. It fires again only
// after a top-up, a renewal or a plan change has raised the balance above it. The balance is available plus leased
// credits.

import { MICRO_PER_CREDIT, type MicroCredits, parseCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'

/** `name` as entered: `"20%"` of the period's highest balance, `"1000"` credits, or `"0"`. */
export interface Threshold {
  readonly name: string
  readonly of: 'percent' | 'micro'
  readonly amount: number
}

/** State between decisions. */
export interface LowBalanceWatch {
  /** Highest balance since the period started. Percentages refer to it. */
  readonly mostMicro: MicroCredits
  /** Thresholds that were below the balance at the last check. */
  readonly armed: readonly string[]
}

export const DEFAULT_THRESHOLDS = ['20%', '5%', '0']
export const THRESHOLDS_MAX = 10

/** Parses a threshold. The error says what to write instead. */
export function parseThreshold(name: string): Result<Threshold, string> {
  const percent = /^([1-9]\d?)%$/.exec(name)?.[1]
  if (percent !== undefined) return ok({ name, of: 'percent', amount: Number(percent) })
  const micro = name.endsWith('%') ? err('') : parseCredits(name)
  if (!micro.ok) return err('must be a whole percentage from "1%" to "99%", or credits such as "1000" or "0"')
  return ok({ name, of: 'micro', amount: micro.value })
}

/**
 * The threshold fires when the balance is at or below this level. "0" fires below one credit, which is the price of a
 * call.
 */
export function levelOf({ of, amount }: Threshold, mostMicro: MicroCredits): MicroCredits {
  if (of === 'micro') return amount === 0 ? MICRO_PER_CREDIT - 1 : amount
  // Computed in two steps, because balance times percentage may exceed exact integers.
  return Math.floor(mostMicro / 100) * amount + Math.floor(((mostMicro % 100) * amount) / 100)
}

/**
 * State that replaces `before` when thresholds are set. Thresholds that have already fired stay fired. An account that
 * never had credits cannot run low.
 */
export function startWatch(
  thresholds: readonly Threshold[],
  mostMicro: MicroCredits,
  before: { readonly thresholds: readonly Threshold[]; readonly watch: LowBalanceWatch } | null = null,
): LowBalanceWatch {
  const fired =
    before?.thresholds.filter(({ name }) => !before.watch.armed.includes(name)).map(({ name }) => name) ?? []
  const armed = mostMicro === 0 ? [] : thresholds.filter(({ name }) => !fired.includes(name)).map(({ name }) => name)
  return { mostMicro: Math.max(mostMicro, before?.watch.mostMicro ?? 0), armed }
}

/** New state after a decision, and the thresholds just reached, highest first. */
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
