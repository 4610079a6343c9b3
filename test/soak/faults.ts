// What goes wrong in a soak, and when. Law: the same seed makes the same faults; the four restarts of the runtime are
// spread over the run, whatever chance says.

import type { Prng } from '../../src/devnet/exchange/prng.ts'

/** Each with what it stands for. */
export const FAULTS = {
  'feeder killed': 'SIGKILL; started again by its supervisor',
  'feeder stopped for 5 s': 'SIGSTOP, SIGCONT',
  'node begins again': 'nothing is written for 3 s, then 10 heights once more',
  'node does not write for 5 s': 'then all at once',
  'a stream of the node missing for 10 s': 'no lines of other events',
  "a stream's file cut to its newest half": 'written anew and renamed into place',
  'way of the feeder cut for 2 s': 'its TCP connection ends',
  'second feeder comes or goes': 'beside the same node',
  'connections of a quarter of the clients cut': 'their TCP connections end',
  'gateway ended and started anew': 'SIGTERM: both Workers at once, harsher than a deploy of either',
  'workerd killed': 'SIGKILL: the same without any warning',
} as const
export type FaultKind = keyof typeof FAULTS

export interface Fault {
  /** Since the start of the run. */
  readonly atMs: number
  readonly kind: FaultKind
}

const RESTARTS = ['gateway ended and started anew', 'workerd killed'] as const satisfies FaultKind[]
export const isRestart = (kind: FaultKind): boolean => (RESTARTS as readonly FaultKind[]).includes(kind)
const OTHERS = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => !isRestart(kind))
/** Two deploys of each Worker. */
const RESTARTS_IN_ALL = 4

/** Every other kind comes once before any comes again. */
export function faultPlan(runMs: number, everyMs: number, chance: Prng): Fault[] {
  const count = Math.floor(runMs / everyMs)
  const restarts = new Map<number, FaultKind>()
  for (let each = 0; each < RESTARTS_IN_ALL; each++)
    restarts.set(Math.floor(((each + 0.5) * count) / RESTARTS_IN_ALL), RESTARTS[each % RESTARTS.length]!)
  let left: FaultKind[] = []
  const next = () => {
    if (left.length === 0) left = [...OTHERS]
    return left.splice(chance.below(left.length), 1)[0]!
  }
  return Array.from({ length: count }, (_, index) => ({
    atMs: (index + 1) * everyMs,
    kind: restarts.get(index) ?? next(),
  }))
}
