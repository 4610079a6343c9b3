// How fast all markets go in and come out again at a client, and how long the worst recorded block takes.

import { COINS_PER_BLOCK, WORST_CHANGES } from './blocks.ts'
import { EXCHANGE_BLOCKS_PER_SECOND } from './latency.node.ts'
import { alternate, compared } from './rounds.node.ts'
import { median } from './statistics.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL = 10
const WORST_GOAL_MS = 10
/** Blocks ahead of the acknowledgements: about 4 MiB, a sixteenth of what a feeder holds. */
const IN_FLIGHT = 256
/** In a round a client gets 14 MB: more than 16 MiB without its ping being read would end it (local workerd reads no
 * other socket while one has always something to read). */
const BLOCKS = 900

/** All-market blocks per second, acknowledged and delivered to a client of all its coins. */
export async function ingestLine({ load, quick }: Bench): Promise<Line> {
  await load.call('resize', 'weir', 1, 'sixty coins')
  const rates: number[] = []
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    await load.call('ping', 'weir')
    rates.push((await load.call('ingest', 'weir', 'market', IN_FLIGHT, BLOCKS)).perSecond)
  }
  const rate = median(rates)
  const ratio = rate / EXCHANGE_BLOCKS_PER_SECOND
  return {
    what: `ingest of all markets (${COINS_PER_BLOCK} coins, 300 levels, 4 fills a block)`,
    bare: `${EXCHANGE_BLOCKS_PER_SECOND} blocks/s (the exchange)`,
    weir: `${whole(rate)} blocks/s`,
    ratio: times(ratio),
    goal: `≥ ${GOAL}×`,
    met: ratio >= GOAL,
  }
}

/** From the write of the worst block to its whole frame at a client of all coins, beyond an echo of that frame. */
export async function worstBlockLine(bench: Bench): Promise<Line> {
  const { load, quick } = bench
  for (const { name } of bench.both) await load.call('resize', name, 1, 'all coins')
  const outcomes = await alternate(bench, quick ? 1 : 3, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, 'worst', quick ? 10 : 12, 80)
  })
  const { bare, weir } = compared(outcomes, 'bare', ({ last }) => last.p50)
  return {
    what: `the worst recorded block (${whole(WORST_CHANGES)} changes) to a client of all coins, p50`,
    bare: `${ms(bare)} (echo)`,
    weir: ms(weir),
    ratio: `+${ms(weir - bare)}`,
    goal: `< +${WORST_GOAL_MS} ms`,
    met: weir - bare < WORST_GOAL_MS,
  }
}
