// The outages of a node and their schedule. Invariants: equal seeds give equal outages; the first three kinds are those of
// which there is at least one in any three outages.

import type { Prng } from '../../src/devnet/exchange/prng.ts'

/** What becomes of the blocks of an outage of node A. */
const OUTAGE_KINDS = [
  /** Feeder B is down, so there is a gap. Node B has the files. */
  'repaired',
  /** Node B is out at the same time: nobody has the blocks. */
  'lost',
  /** Feeder B sends them: no gap. */
  'covered',
  /** Feeder B is down, and node B goes out halfway. */
  'partly lost',
] as const
export type OutageKind = (typeof OUTAGE_KINDS)[number]

interface Outage {
  readonly kind: OutageKind
  readonly ms: number
  /** Quiet time until the next one. */
  readonly calmMs: number
}

const LEAST_SHARE = 0.25
const MOST_SHARE = 1.5
const CALM_SHARE = 0.4
const STEPS = 1_000

/** About `runMs` in all. Ten in twenty minutes take from 30 s to 3 min each. */
export function outagePlan(count: number, runMs: number, chance: Prng): Outage[] {
  const turnMs = runMs / count
  const left = Array.from({ length: count }, (_, at) => OUTAGE_KINDS[at % OUTAGE_KINDS.length]!)
  return Array.from({ length: count }, () => {
    const [kind] = left.splice(chance.below(left.length), 1)
    // Mostly short.
    const share = LEAST_SHARE + (MOST_SHARE - LEAST_SHARE) * (chance.below(STEPS + 1) / STEPS) ** 3
    return { kind: kind!, ms: Math.round(turnMs * share), calmMs: Math.round(turnMs * CALM_SHARE) }
  })
}
