// Rounds of bare and Weir in turn, so that whatever else the machine does meets both.

import { median } from './statistics.ts'
import type { Bench, Name, Target } from './targets.node.ts'

export type Rounds<T> = Readonly<Record<Name, readonly T[]>>

/** Measures bare, Weir, bare, Weir … */
export async function alternate<T>(
  { both }: Pick<Bench, 'both'>,
  rounds: number,
  measure: (target: Target) => Promise<T>,
): Promise<Rounds<T>> {
  const outcomes: Record<Name, T[]> = { bare: [], weir: [] }
  for (let round = 0; round < rounds; round++) {
    for (const target of both) outcomes[target.name].push(await measure(target))
  }
  return outcomes
}

/** Medians of one figure of all rounds, and Weir's over bare's. */
export function medians<T>(rounds: Rounds<T>, figure: (outcome: T) => number) {
  const bare = median(rounds.bare.map(figure))
  const weir = median(rounds.weir.map(figure))
  return { bare, weir, ratio: weir / bare }
}
