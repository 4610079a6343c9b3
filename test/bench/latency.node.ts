// From the feeder's write to the client's read at the exchange's own rate, with a thousand sockets: sixty coins change
// in every block and one of them is subscribed to; the bare object is fed the one frame that it broadcasts.

import { alternate } from './rounds.node.ts'
import { type Line, ms, times } from './table.ts'
import type { Bench } from './targets.node.ts'

export const EXCHANGE_BLOCKS_PER_SECOND = 14.5
const GOAL = 1.15
const SOCKETS = 1000

/** p50 and p99 over the blocks of all rounds. */
export async function latencyLines(bench: Bench): Promise<Line[]> {
  const { load, quick, say } = bench
  for (const { name } of bench.both) await load.call('resize', name, SOCKETS)
  const everyMs = 1000 / EXCHANGE_BLOCKS_PER_SECOND
  const outcomes = await alternate(bench, quick ? 1 : 4, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, name === 'weir' ? 'market' : 'single', quick ? 30 : 45, everyMs, true)
  })
  const bare = outcomes.bare.at(-1)!
  const weir = outcomes.weir.at(-1)!
  say(`  p90 ${ms(bare.p90)} bare, ${ms(weir.p90)} Weir; worst ${ms(bare.max)} and ${ms(weir.max)}`)
  return (['p50', 'p99'] as const).map((name) => {
    const ratio = weir[name] / bare[name]
    return {
      what: `feed to client at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s, 1 000 sockets, ${name}`,
      bare: ms(bare[name]),
      weir: ms(weir[name]),
      ratio: times(ratio),
      goal: `≤ ${times(GOAL)}`,
      met: ratio <= GOAL,
    }
  })
}
