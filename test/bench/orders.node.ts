// What it costs clients of level books when others follow every order of the same coin, at the rate of the busiest one.

import { EXCHANGE_BLOCKS_PER_SECOND } from './latency.node.ts'
import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const SOCKETS = 300
const FOLLOWERS = 3
const WAIT_BLOCKS = 10
const GOAL = 1.15

/** p50 and p99 of the last of the clients, with nobody and with some who take all orders. */
export async function orderLines({ load, quick, weir, say }: Bench): Promise<Line[]> {
  const everyMs = 1000 / EXCHANGE_BLOCKS_PER_SECOND
  const [rounds, blocks] = quick ? [1, 30] : [5, 200]
  const outcomes = await inTurn({ load }, { bare: weir, weir }, rounds, async (_, way) => {
    await load.call('resize', 'weir', SOCKETS, 'one coin')
    const followers = way === 'bare' ? 0 : FOLLOWERS
    // All orders are of a block that has come since they were asked for.
    while ((await load.call('follow', 'weir', followers)) === null)
      await load.call('pace', 'weir', 'empty', WAIT_BLOCKS, everyMs)
    await load.call('ping', 'weir')
    const before = await load.call('follow', 'weir', followers)
    const { last } = await load.call('pace', 'weir', 'market', blocks, everyMs)
    return { last, blocks, told: (await load.call('follow', 'weir', followers))! - before! }
  })
  await load.call('follow', 'weir', 0)
  say(`  told of blocks with all orders, of ${blocks}: ${outcomes.weir.map(({ told }) => told).join(', ')}`)
  if (outcomes.weir.some(({ told }) => told < blocks)) throw new Error('who follows orders was not told of all blocks')
  const used = spent(outcomes, 'bare', (outcome) => outcome.blocks)
  return (['p50', 'p99'] as const).map((name) => {
    const { bare, weir: own, ratio } = compared(outcomes, 'bare', ({ last }) => last[name])
    return {
      what: `feed to the last of ${whole(SOCKETS)} clients, ${name}, while ${FOLLOWERS} others take 5.6 MB of orders a second each`,
      bare: `${ms(bare)} (nobody does)`,
      weir: ms(own),
      ratio: times(ratio),
      ...used,
      goal: `≤ ${times(GOAL)}`,
      met: ratio <= GOAL,
    }
  })
}
