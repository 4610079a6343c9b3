// From the feeder's write to the client's read at the exchange's own rate, with many sockets: sixty coins change in every
// block and one of them is subscribed to; the bare object is fed the one frame that it broadcasts.

import { alternate, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

export const EXCHANGE_BLOCKS_PER_SECOND = 14.5
const GOAL = 1.15
/** Of a p99, twenty blocks are above. */
const BLOCKS = 2_000
const ROUNDS = 10

/** For the middle and the last of so many clients, p50 and p99 over the blocks of all rounds. */
export async function latencyLines(bench: Bench, sockets: number): Promise<Line[]> {
  const { load, quick, say } = bench
  for (const { name } of bench.both) await load.call('resize', name, sockets)
  const everyMs = 1000 / EXCHANGE_BLOCKS_PER_SECOND
  const [rounds, blocks] = quick ? [1, 30] : [ROUNDS, BLOCKS / ROUNDS]
  const outcomes = await alternate(bench, rounds, async ({ name }) => {
    await load.call('ping', name)
    const paced = await load.call('pace', name, name === 'weir' ? 'market' : 'single', blocks, everyMs)
    return { ...paced, blocks }
  })
  const [bare, weir] = [outcomes.bare.at(-1)!, outcomes.weir.at(-1)!]
  const used = spent(outcomes, 'bare', (outcome) => outcome.blocks)
  say(`  worst block ${ms(bare.last.max)} bare, ${ms(weir.last.max)} Weir`)
  return (['middle', 'last'] as const).flatMap((client) =>
    (['p50', 'p99'] as const).map((name) => {
      const ratio = weir[client][name] / bare[client][name]
      return {
        what: `feed to the ${client} of ${whole(sockets)} clients at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s, ${name} of ${whole(rounds * blocks)} blocks`,
        bare: ms(bare[client][name]),
        weir: ms(weir[client][name]),
        ratio: times(ratio),
        ...used,
        goal: `≤ ${times(GOAL)}`,
        met: ratio <= GOAL,
      }
    }),
  )
}
