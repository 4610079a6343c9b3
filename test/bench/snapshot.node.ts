// A whole book as deep as the real one, just changed, so that its hub has to write it down anew: alone, and for a
// hundred callers at once. A bare Worker has nothing to compare with: the goal is a time.

import { COIN } from './blocks.ts'
import type { Arrival } from './http-load.node.ts'
import { median } from './statistics.ts'
import { type Line, ms } from './table.ts'
import type { Bench } from './targets.node.ts'

const BODY = JSON.stringify({ type: 'l2BookDiffSnapshot', coin: COIN })
const GOAL_MS = 15
const AT_ONCE = 100
/** For a block to reach its hub. */
const SETTLE_MS = 60

/** First byte of one call, and the last of a hundred. */
export async function snapshotLines({ weir, load, authorization, quick, say }: Bench): Promise<Line[]> {
  const headers = `Content-Type: application/json\r\n${authorization}`
  const call = async (calls: number): Promise<Arrival[]> => {
    await load.call('change', 'weir')
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    return load.call('atOnce', { port: weir.port, path: '/info', headers, body: BODY, calls })
  }
  await load.call('resize', 'weir', 0)
  const rounds = async (count: number, calls: number) => {
    const outcomes: Arrival[][] = []
    for (let round = 0; round < count; round++) outcomes.push(await call(calls))
    return outcomes
  }
  await rounds(5, 1)
  const alone = await rounds(quick ? 5 : 40, 1)
  const many = await rounds(quick ? 1 : 5, AT_ONCE)
  const first = median(alone.map(([arrival]) => arrival!.firstMs))
  const last = median(many.map((arrivals) => Math.max(...arrivals.map(({ wholeMs }) => wholeMs))))
  say(`  ${alone[0]![0]!.bytes} bytes, whole after ${ms(median(alone.map(([arrival]) => arrival!.wholeMs)))}`)
  const line = { bare: '–', ratio: '' }
  return [
    {
      ...line,
      what: 'info `l2BookDiffSnapshot` of 21 378 levels that just changed, first byte, p50',
      weir: ms(first),
      goal: `≤ ${GOAL_MS} ms`,
      met: first <= GOAL_MS,
    },
    { ...line, what: `the same for ${AT_ONCE} callers at once, last byte`, weir: ms(last), goal: '', met: null },
  ]
}
