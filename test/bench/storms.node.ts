// A thousand clients that subscribe in the same moment, and a thousand that connect in the same moment and then
// subscribe: how long until the last of them has live data. Blocks go on at the exchange's rate.

import { EXCHANGE_BLOCKS_PER_SECOND } from './latency.node.ts'
import { alternate, compared, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const CLIENTS = 1_000
const GOAL_MS = 2_000
const EVERY_MS = 1000 / EXCHANGE_BLOCKS_PER_SECOND

const STORMS = [
  { what: 'connected clients subscribe to a coin at once', crowd: 'one coin', kind: 'single', isConnected: true },
  {
    what: 'connected clients subscribe to a coin with its Snapshot (15 KB) at once',
    crowd: 'l2BookDiff',
    kind: 'traded',
    isConnected: true,
  },
  { what: 'clients connect at once, and subscribe to a coin', crowd: 'one coin', kind: 'single', isConnected: false },
] as const

/** To the last one's live data. */
export async function stormLines(bench: Bench): Promise<Line[]> {
  const { load, quick, say } = bench
  const lines: Line[] = []
  for (const { what, crowd, kind, isConnected } of STORMS) {
    const outcomes = await alternate(bench, quick ? 1 : 3, async ({ name }) =>
      load.call('storm', name, crowd, CLIENTS, isConnected, kind, EVERY_MS),
    )
    const { ackedMs, middleMs } = outcomes.weir.at(-1)!
    say(`  the last acknowledgement after ${ms(ackedMs)}, the middle one live after ${ms(middleMs)}`)
    const { bare, weir, ratio } = compared(outcomes, 'bare', ({ lastMs }) => lastMs)
    lines.push({
      what: `${whole(CLIENTS)} ${what}: the last is live after`,
      bare: ms(bare),
      weir: ms(weir),
      ratio: times(ratio),
      ...spent(outcomes, 'bare', () => CLIENTS),
      goal: isConnected ? `≤ ${ms(GOAL_MS)}` : '',
      met: isConnected ? weir <= GOAL_MS : null,
    })
  }
  return lines
}
