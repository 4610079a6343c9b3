// What a frame of a channel costs, against one of `l2BookDiff`: the same block to as many sockets, each of which is sent
// one frame of it.

import { compared, inTurn } from './rounds.node.ts'
import { type Line, times, us, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const CHANNELS = ['trades', 'bbo', 'l2Book'] as const
const SOCKETS = 300
const IN_FLIGHT = 4
/** Ratios of the same work lie so far apart. */
const GOAL = 1

/** CPU per frame, each channel in turn with the diffs. */
export async function channelLines(bench: Bench): Promise<Line[]> {
  const { load, quick, weir } = bench
  const lines: Line[] = []
  for (const channel of CHANNELS) {
    const outcomes = await inTurn(bench, { bare: weir, weir }, quick ? 1 : 3, async (target, way) => {
      await load.call('resize', 'weir', SOCKETS, way === 'bare' ? 'l2BookDiff' : channel)
      await load.call('ping', 'weir')
      const before = target.cpuMs()
      const { frames } = await load.call('saturate', 'weir', 'traded', IN_FLIGHT, quick ? 1000 : 3000)
      return { usPerFrame: ((target.cpuMs() - before) * 1000) / frames }
    })
    const { bare, weir: own, ratio } = compared(outcomes, 'bare', ({ usPerFrame }) => usPerFrame)
    lines.push({
      what: `CPU of a frame of \`${channel}\` to each of ${whole(SOCKETS)} sockets`,
      bare: `${us(bare)} (\`l2BookDiff\`)`,
      weir: us(own),
      ratio: times(ratio),
      goal: `≤ ${times(GOAL)}`,
      met: ratio <= GOAL,
    })
  }
  return lines
}
