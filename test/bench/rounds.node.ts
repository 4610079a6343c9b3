// Runs short rounds of several targets in turn, so that other load on the machine affects all of them. It also
// measures the CPU time of each round, because CPU time per operation varies much less than elapsed time.

import { median } from '../kit/statistics.ts'
import { type Line, us } from './table.ts'
import type { Bench, Name, Target } from './targets.node.ts'

interface Spent {
  /** Of the target's workerd. */
  readonly cpuMs: number
  /** Cores that the load process kept busy. */
  readonly load: number
}
export type Rounds<W extends string, T> = Readonly<Record<W, readonly (T & Spent)[]>>

/** Measures every way, and again, `rounds` times. */
export async function inTurn<W extends string, T extends object>(
  { load }: Pick<Bench, 'load'>,
  ways: Readonly<Record<W, Target>>,
  rounds: number,
  measure: (target: Target, way: W) => Promise<T>,
): Promise<Rounds<W, T>> {
  const each = Object.entries<Target>(ways) as [W, Target][]
  const outcomes = Object.fromEntries(each.map(([way]) => [way, []])) as unknown as Record<W, (T & Spent)[]>
  for (let round = 0; round < rounds; round++) {
    for (const [way, target] of each) {
      await load.call('busy')
      const before = target.cpuMs()
      const outcome = await measure(target, way)
      outcomes[way].push({ ...outcome, cpuMs: target.cpuMs() - before, load: await load.call('busy') })
    }
  }
  return outcomes
}

/** Bare, Weir, bare, Weir … */
export function alternate<T extends object>(
  bench: Pick<Bench, 'load' | 'bare' | 'weir'>,
  rounds: number,
  measure: (target: Target) => Promise<T>,
): Promise<Rounds<Name, T>> {
  return inTurn(bench, { bare: bench.bare, weir: bench.weir }, rounds, measure)
}

/** Medians of one figure, and the median of Weir's over the other's round by round. */
export function compared<W extends string, T>(
  rounds: Rounds<W | 'weir', T>,
  base: W,
  figure: (outcome: T & Spent) => number,
) {
  const bare = rounds[base].map(figure)
  const weir = rounds.weir.map(figure)
  return { bare: median(bare), weir: median(weir), ratio: median(weir.map((value, i) => value / bare[i]!)) }
}

/** What a line says of processors: CPU for each operation, and the load process's share. */
export function spent<W extends string, T>(
  rounds: Rounds<W | 'weir', T>,
  base: W,
  operations: (outcome: T) => number,
): Pick<Line, 'cpu' | 'load'> {
  const sum = (way: W | 'weir', of: (outcome: T & Spent) => number) =>
    rounds[way].reduce((total, outcome) => total + of(outcome), 0)
  const cpu = (way: W | 'weir') => us((1000 * sum(way, ({ cpuMs }) => cpuMs)) / sum(way, operations))
  const load = (way: W | 'weir') => (sum(way, (outcome) => outcome.load) / rounds[way].length).toFixed(2)
  return { cpu: `${cpu(base)} → ${cpu('weir')}`, load: `${load(base)} / ${load('weir')}` }
}
