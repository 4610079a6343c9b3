// One book subscription to many sockets, blocks as fast as they go out, against an object that broadcasts a frame of
// the same size.

import { DISTINCT } from './crowds.ts'
import { alternate, compared, spent } from './rounds.node.ts'
import { type Line, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL = 0.9
/** Blocks on their way at once: enough that the object always has work. */
const IN_FLIGHT = 4

/** Messages per second to so many sockets: all of one body, or of a hundred. */
export async function fanOutLine(bench: Bench, sockets: number, crowd: 'one coin' | 'distinct'): Promise<Line> {
  const { load, quick } = bench
  for (const { name } of bench.both) await load.call('resize', name, sockets, crowd)
  const outcomes = await alternate(bench, quick ? 1 : 10, async ({ name }) => {
    await load.call('ping', name)
    return load.call('saturate', name, 'single', IN_FLIGHT, 700)
  })
  const rate = compared(outcomes, 'bare', ({ framesPerSecond }) => framesPerSecond)
  return {
    what: `fan-out of one coin to ${whole(sockets)} sockets${crowd === 'distinct' ? ` of ${DISTINCT} bodies` : ''}, saturated`,
    bare: `${whole(rate.bare)} messages/s`,
    weir: `${whole(rate.weir)} messages/s`,
    ratio: times(rate.ratio),
    ...spent(outcomes, 'bare', ({ frames }) => frames),
    goal: `≥ ${times(GOAL)}`,
    met: rate.ratio >= GOAL,
  }
}
