// The same books to as many sockets of /ws and of /graphql, in turn: what a selection and an id of one's own cost.

import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL = 0.8
const IN_FLIGHT = 4
/** What is asked for at either door, and the blocks that bring it. */
const KINDS = {
  'one coin': { ws: 'l2BookDiff', weir: 'graphql', block: 'traded' },
  'a part of all coins': { ws: 'all coins', weir: 'part over graphql', block: 'market' },
} as const

/** Messages per second; every client of GraphQL has an id of its own, as clients have it. */
export async function graphqlLine(bench: Bench, sockets: number, kind: keyof typeof KINDS): Promise<Line> {
  const { load, quick, weir } = bench
  const outcomes = await inTurn(bench, { ws: weir, weir }, quick ? 1 : 6, async ({ name }, way) => {
    await load.call('resize', name, sockets, KINDS[kind][way])
    await load.call('ping', name)
    return load.call('saturate', name, KINDS[kind].block, IN_FLIGHT, 700)
  })
  const rate = compared(outcomes, 'ws', ({ framesPerSecond }) => framesPerSecond)
  return {
    what: `fan-out of ${kind} over GraphQL to ${whole(sockets)} sockets, against /ws`,
    bare: `${whole(rate.bare)} messages/s`,
    weir: `${whole(rate.weir)} messages/s`,
    ratio: times(rate.ratio),
    ...spent(outcomes, 'ws', ({ frames }) => frames),
    goal: `≥ ${times(GOAL)}`,
    met: rate.ratio >= GOAL,
  }
}
