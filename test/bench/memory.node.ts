// What a connection with a subscription costs in resident memory of workerd.

import { type Line, times } from './table.ts'
import type { Bench, Target } from './targets.node.ts'

const SOCKETS = 1000
/** Opened before, so that code is compiled. What the heap grows by under the others counts as theirs. */
const WARM = 30
const BLOCKS = 10
const GOAL_KB = 95
const SETTLE_MS = 1500

/** Resident kilobytes per connection. To be run on fresh processes. */
export async function memoryLine(bench: Bench): Promise<Line> {
  const bare = await perConnection(bench, bench.bare)
  const weir = await perConnection(bench, bench.weir)
  return {
    what: 'memory per subscribed connection (of 1 000)',
    bare: `${bare.toFixed(0)} KB`,
    weir: `${weir.toFixed(0)} KB`,
    ratio: times(weir / bare),
    goal: `≤ ${GOAL_KB} KB`,
    met: weir <= GOAL_KB,
  }
}

async function perConnection({ load }: Bench, { name, memory }: Target): Promise<number> {
  await load.call('resize', name, WARM)
  await settle()
  const before = memory()
  await load.call('resize', name, WARM + SOCKETS)
  // Every socket has been sent something, as in use.
  await load.call('pace', name, 'single', BLOCKS, 69)
  await settle()
  return (memory() - before) / 1024 / SOCKETS
}

const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
