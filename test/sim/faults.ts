// The faults and their weights. A fault is drawn about every thirtieth block.

import type { SimClient } from './client.ts'
import type { SimFeeder } from './feeder.ts'
import type { Network } from './network.node.ts'
import type { Schedule } from './schedule.ts'
import type { Wire } from './wire.ts'

export interface Stage {
  readonly schedule: Schedule
  readonly network: Network
  readonly feeders: readonly SimFeeder[]
  readonly clients: readonly SimClient[]
  /** The node writes nothing for a while, or many blocks at once. */
  pauseNode(ms: number): void
  grow(blocks: number): void
  /** The oldest of the node's files are removed; answers the first height that is left. */
  prune(): number
  /** The clock of an object's machine jumps. */
  skew(): string
}

type Fault = readonly [weight: number, run: (stage: Stage) => string | undefined]

const crash =
  (kind: string) =>
  ({ network, schedule }: Stage): string | undefined => {
    const host = schedule.pick(
      [...network.platform.hosts.values()].filter((one) => one.key.startsWith(kind) && one.instance),
    )
    host?.crash()
    return host?.key
  }

const wire =
  (run: (wire: Wire, schedule: Schedule) => void) =>
  ({ network, schedule }: Stage): string | undefined => {
    const one = schedule.pick(network.wires())
    if (one) run(one, schedule)
    return one?.label
  }

const client =
  (run: (client: SimClient) => void) =>
  ({ clients, schedule }: Stage): string => {
    const one = schedule.pick(clients)!
    run(one)
    return one.name
  }

export const FAULTS = {
  'log killed': [2, crash('log')],
  'hub killed': [3, crash('hub')],
  'relay killed': [2, crash('relay')],
  'meter killed': [1, crash('meter')],
  'link cut': [5, wire((one) => one.cut())],
  'link mute': [2, wire((one, schedule) => one.mute(schedule.between(20_000, 60_000)))],
  'link held up': [
    5,
    wire((one, schedule) => {
      one.heldUntilMs = schedule.nowMs + schedule.between(200, schedule.pick([900, 3000, 12_000])!)
    }),
  ],
  'slow disks': [2, ({ network, schedule }) => storm(network, schedule, 'disksUntilMs')],
  'calls lost': [
    3,
    ({ network, schedule, clients }) => {
      // What is asked and told amid it is what may go wrong.
      for (let i = 0; i < 3; i++) schedule.after(schedule.below(3000), () => schedule.pick(clients)!.toggle())
      return storm(network, schedule, 'callsUntilMs')
    },
  ],
  'frames lost, doubled, exchanged': [3, ({ network, schedule }) => storm(network, schedule, 'framesUntilMs')],
  'feeder killed': [
    3,
    ({ feeders, schedule }) => {
      const one = schedule.pick(feeders.filter(({ isRunning }) => isRunning))
      if (!one) return undefined
      const losing = schedule.pick([0, 0, 1, 2])!
      one.kill(losing)
      const backMs = schedule.between(100, schedule.pick([500, 8000])!)
      schedule.after(backMs, () => one.start())
      return `${one.name}, back in ${backMs} ms, without ${losing} checkpoints`
    },
  ],
  'node silent': [
    1,
    (stage) => {
      const ms = stage.schedule.between(1000, 12_000)
      stage.pauseNode(ms)
      return `${ms} ms`
    },
  ],
  'blocks at once': [
    1,
    (stage) => {
      const blocks = stage.schedule.between(5, 40)
      stage.grow(blocks)
      return String(blocks)
    },
  ],
  'files removed': [0.5, (stage) => `below ${stage.prune()}`],
  'clock jumped': [1, (stage) => stage.skew()],
  'subscription toggled': [6, client((one) => one.toggle())],
  'client started anew': [1, client((one) => one.restart())],
  'client cut': [2, client((one) => one.wire?.cut())],
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

const NAMES = Object.keys(FAULTS) as FaultName[]
const SUM = NAMES.reduce((sum, name) => sum + FAULTS[name][0], 0)

export function drawn(schedule: Schedule): FaultName {
  let left = schedule.random() * SUM
  return NAMES.find((name) => {
    left -= FAULTS[name][0]
    return left < 0
  })!
}

function storm(network: Network, schedule: Schedule, what: keyof Network['storms']): string {
  const ms = schedule.between(500, 6000)
  network.storms[what] = schedule.nowMs + ms
  return `for ${ms} ms`
}
