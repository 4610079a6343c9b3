// The rows of wanted coins in one block, as the node wrote them.
// Law: a coin has an entry only where it is certain that all its rows of the block are in it.

import type { L4Rows } from '../feed/block.ts'
import { coinOf } from './raw-diff.ts'

/** What a block says of the orders of coins beside its diffs. */
export interface L4Lines {
  readonly coins: ReadonlySet<string>
  /**
   * Order statuses of each coin that has any; null where the block has no line of them: then what came with a diff is
   * not known, and only coins without diffs are.
   */
  statuses: ReadonlyMap<string, readonly unknown[]> | null
  /** Coins whose rows are not known, or were not of a block before, which went out as if it had none. */
  spoilt: ReadonlySet<string>
}

/** One entry for each coin whose rows are known, also where it has none. */
export function l4Rows({ coins, statuses, spoilt }: L4Lines, diffs: readonly unknown[]): L4Rows[] {
  const entries = new Map<string, L4Rows>()
  for (const coin of coins)
    if (!spoilt.has(coin)) entries.set(coin, { coin, statuses: [...(statuses?.get(coin) ?? [])], diffs: [] })
  if (entries.size > 0) for (const diff of diffs) entries.get(coinOf(diff) ?? '')?.diffs.push(diff)
  return [...entries.values()].filter((entry) => statuses !== null || entry.diffs.length === 0)
}
