// From the feeder's write to the client's read at the exchange's own rate, with many sockets: sixty coins change in every
// block and one of them is subscribed to; the bare object is fed the one frame that it broadcasts.

import { alternate, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

export const EXCHANGE_BLOCKS_PER_SECOND = 14.5
const GOAL = 1.15
/** Of a p99, twenty blocks are above; of clients of several kinds six. */
const ROUNDS = { 'one coin': 10, mixed: 3 } as const
const BLOCKS = 200
const NAMES = {
  'one coin': 'clients',
  mixed: 'clients, of whom 50 take all coins and 200 lists of 1 000 wallets each,',
} as const

/** For the middle and the last of so many clients, p50 and p99 over the blocks of all rounds. */
export async function latencyLines(bench: Bench, sockets: number, crowd: keyof typeof ROUNDS): Promise<Line[]> {
  const { load, quick, say } = bench
  for (const { name } of bench.both) await load.call('resize', name, sockets, crowd)
  const everyMs = 1000 / EXCHANGE_BLOCKS_PER_SECOND
  const [rounds, blocks] = quick ? [1, 30] : [ROUNDS[crowd], BLOCKS]
  const outcomes = await alternate(bench, rounds, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, 'market', blocks, everyMs)
  })
  const bare = outcomes.bare.at(-1)!
  const weir = outcomes.weir.at(-1)!
  const used = spent(outcomes, 'bare', (outcome) => outcome.blocks)
  say(`  worst block ${ms(bare.last.max)} bare, ${ms(weir.last.max)} Weir`)
  return (['middle', 'last'] as const).flatMap((client) =>
    (['p50', 'p99'] as const).map((name) => {
      const ratio = weir[client][name] / bare[client][name]
      return {
        what: `feed to the ${client} of ${whole(sockets)} ${NAMES[crowd]} at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s, ${name} of ${whole(rounds * blocks)} blocks`,
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
