// The faults of a soak and their schedule. Invariant: equal seeds give equal faults; the four restarts of the runtime
// are always spread over the run.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Prng } from '../../src/devnet/exchange/prng.ts'
import type { Plant } from './plant.node.ts'

type Strike = (plant: Plant, number: number) => unknown
const signal =
  (name: string, what: NodeJS.Signals): Strike =>
  (plant) =>
    plant.signal(name, what)
const disturb =
  (order: object): Strike =>
  (plant) =>
    plant.disturb(order)
const cut =
  (wayOf: (plant: Plant, number: number) => Plant['feedWay']): Strike =>
  async (plant, number) => {
    const way = wayOf(plant, number)
    way.cut()
    await sleep(2_000)
    way.restore()
  }
const stop: Strike = async (plant) => {
  plant.signal('feeder', 'SIGSTOP')
  await sleep(5_000)
  plant.signal('feeder', 'SIGCONT')
}

/** Carries each fault out; what it needs to end by itself, it ends. */
const STRIKES = {
  /** Started again by its supervisor. */
  'feeder killed': signal('feeder', 'SIGKILL'),
  'feeder stopped for 5 s': stop,
  /** Nothing is written for 3 s, then 10 heights once more. */
  'node begins again': disturb({ what: 'restart', for_ms: 3_000, rewrite: 10 }),
  /** Then all at once. */
  'node does not write for 5 s': disturb({ what: 'pause', for_ms: 5_000 }),
  'a stream of the node missing for 10 s': disturb({ what: 'cut', stream: 'misc_events_by_block', for_ms: 10_000 }),
  /** Written anew and renamed into place. */
  "a stream's file cut to its newest half": disturb({ what: 'rotate', stream: 'node_raw_book_diffs_by_block' }),
  'way of the feeder cut for 2 s': cut((plant) => plant.feedWay),
  /** Beside the same node. */
  'second feeder comes or goes': (plant) => plant.toggleSecondFeeder(),
  'connections of a quarter of the clients cut': cut(
    ({ clientWays }, number) => clientWays[number % clientWays.length]!,
  ),
  /** Both Workers at once, harsher than a deploy of either. */
  'gateway ended and started anew': signal('gateway', 'SIGTERM'),
  'workerd killed': signal('workerd', 'SIGKILL'),
} as const satisfies Record<string, Strike>
export type FaultKind = keyof typeof STRIKES
export const FAULTS = Object.keys(STRIKES) as FaultKind[]

export async function strike(plant: Plant, kind: FaultKind, number: number): Promise<void> {
  const run: Strike = STRIKES[kind]
  await run(plant, number)
}

export interface Fault {
  readonly atMs: number
  readonly kind: FaultKind
}

const RESTARTS = ['gateway ended and started anew', 'workerd killed'] as const satisfies FaultKind[]
export const isRestart = (kind: FaultKind): boolean => (RESTARTS as readonly FaultKind[]).includes(kind)
const OTHERS = FAULTS.filter((kind) => !isRestart(kind))
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
