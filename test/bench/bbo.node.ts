// The best levels of all coins at the exchange's rate: what a client of them takes, and what its frames cost beside an
// object that is fed them.

import { COINS } from './blocks.ts'
import { EXCHANGE_BLOCKS_PER_SECOND } from './latency.node.ts'
import { alternate, spent } from './rounds.node.ts'
import { type Line, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const CLIENTS = 10
const BLOCKS = 145
const GOAL_KB = 5
/** One changed level and nothing else: less says nothing. */
const LEVEL_BYTES = '{"px":"81307.0","sz":"3.36432","n":8}'.length

/** Bytes a second to a client, and CPU per frame. */
export async function bboLines(bench: Bench): Promise<Line[]> {
  const { load, quick } = bench
  for (const { name } of bench.both) await load.call('resize', name, CLIENTS, 'bbo of all')
  const outcomes = await alternate(bench, quick ? 1 : 3, async ({ name }) => {
    await load.call('ping', name)
    return load.call('pace', name, 'market', quick ? 30 : BLOCKS, 1000 / EXCHANGE_BLOCKS_PER_SECOND)
  })
  const { frames, bytes, blocks } = outcomes.weir.at(-1)!
  const framesPerSecond = (frames / CLIENTS / blocks) * EXCHANGE_BLOCKS_PER_SECOND
  const kbPerSecond = (perFrame: number) => (framesPerSecond * perFrame) / 1000
  const weir = kbPerSecond(bytes / frames)
  return [
    {
      what: `\`bbo\` of all ${COINS.length} coins at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s: a client takes ${whole(framesPerSecond)} frames a second of ${whole(bytes / frames)} bytes`,
      bare: `${kbPerSecond(LEVEL_BYTES).toFixed(1)} KB/s (of each one level of ${LEVEL_BYTES} bytes)`,
      weir: `${weir.toFixed(1)} KB/s`,
      ratio: '',
      goal: `< ${GOAL_KB} KB/s`,
      met: weir < GOAL_KB,
    },
    {
      what: `CPU of such a frame to each of ${CLIENTS} clients, that of the block it is of included`,
      bare: '',
      weir: '',
      ratio: '',
      ...spent(outcomes, 'bare', (outcome) => outcome.frames),
      goal: '',
      met: null,
    },
  ]
}
