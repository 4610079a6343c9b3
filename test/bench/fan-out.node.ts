// One book subscription to many sockets, blocks as fast as they go out, against an object that broadcasts a frame of
// the same size.

import { alternate, medians } from './rounds.node.ts'
import { type Line, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL = 0.9
/** Blocks on their way at once: enough that the object always has work. */
const IN_FLIGHT = 4

/** Messages per second to so many sockets. */
export async function fanOutLine(bench: Bench, sockets: number): Promise<Line> {
  const { load, quick, say } = bench
  for (const { name } of bench.both) await load.call('resize', name, sockets)
  const outcomes = await alternate(bench, quick ? 1 : 4, async ({ name, cpuMs }) => {
    await load.call('ping', name)
    await load.call('busy')
    const before = cpuMs()
    const outcome = await load.call('saturate', name, 'single', IN_FLIGHT, quick ? 700 : 1200)
    const cpuUs = ((cpuMs() - before) * 1000) / outcome.frames
    return { ...outcome, cpuUs, clientBusy: await load.call('busy') }
  })
  const rate = medians(outcomes, ({ framesPerSecond }) => framesPerSecond)
  const cpu = medians(outcomes, ({ cpuUs }) => cpuUs)
  const busy = medians(outcomes, ({ clientBusy }) => clientBusy)
  say(
    `  ${sockets} sockets: CPU per message ${cpu.bare.toFixed(1)} µs bare, ${cpu.weir.toFixed(1)} µs Weir; ` +
      `the load process used ${busy.bare.toFixed(2)} and ${busy.weir.toFixed(2)} of a core`,
  )
  return {
    what: `fan-out of one coin to ${whole(sockets)} sockets, saturated`,
    bare: `${whole(rate.bare)} messages/s`,
    weir: `${whole(rate.weir)} messages/s`,
    ratio: times(rate.ratio),
    goal: `≥ ${times(GOAL)}`,
    met: rate.ratio >= GOAL,
  }
}
