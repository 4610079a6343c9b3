// Benchmarks the files of the archive: how fast they are written, what reading a page costs, and what they cost per
// month.

import type { Operations } from './counted/files-bench.ts'
import { FilesWorker } from './files-worker.node.ts'
import { monthOf } from './history-cost.ts'
import { historyPages } from './history-pages.node.ts'
import { addressOf, inventedFill, randomOf } from './invented-fills.ts'
import { fillTableBytesAFill, keptBytesAFill } from './kept-month.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

/** Of the exchange: some 7 million a day. */
const FILLS_A_SECOND = 81
const GOAL = 20

export async function fileLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  const made = await compaction(quick, say)
  const speed = made.fillsASecond / FILLS_A_SECOND
  const { lines, rowBytes } = await historyPages(quick, say)
  const fillBytes = { keptBytes: await keptBytesAFill(), fillTableBytes: await fillTableBytesAFill() }
  const { dollars, included, kept, does } = monthOf({ ...made, ...fillBytes, rowBytes })
  return [
    {
      what: `compaction of ${whole(made.fills)} fills into minutes, hours and days; the slowest turn ${ms(made.slowestMs)}`,
      bare: `${FILLS_A_SECOND} fills/s (the exchange)`,
      weir: `${whole(made.fillsASecond)} fills/s`,
      ratio: times(speed),
      goal: `≥ ${GOAL}×`,
      met: speed >= GOAL,
    },
    ...lines,
    {
      what: `files of the exchange for a month: ${does}`,
      bare: `$${dollars.toFixed(2)} without what the plan includes`,
      weir: `$${included.toFixed(2)}; $${kept.toFixed(2)} a month for each year kept`,
      goal: '≤ $15, ≤ $3',
      met: included <= 15 && kept <= 3,
    },
  ]
}

// Archived minutes of the exchange's size, made into files as fast as it goes.

/** Of the exchange. */
const FILLS_A_MINUTE = 4_900
const BLOCKS_A_MINUTE = 870
const USERS = 50_000
const MINUTE_MS = 60_000
const START_MINUTE = Date.UTC(2026, 0, 1) / MINUTE_MS
/** Minutes that are archived of each day, in two hours. */
const MINUTES_A_DAY = 8
const DAY_MINUTES = 24 * 60
const BUILDER = addressOf(USERS + 1)

export interface Compacted {
  readonly fills: number
  readonly fillsASecond: number
  readonly slowestMs: number
  /** Of turns that wrote a file of this level. */
  readonly levels: Readonly<Record<string, Operations & { readonly turns: number }>>
}

async function compaction(quick: boolean, say: (text: string) => void): Promise<Compacted> {
  const worker = await FilesWorker.start('bench')
  try {
    const minutes = (quick ? 2 : 4) * MINUTES_A_DAY + 1
    for (let minute = 0; minute < minutes; minute++) await worker.archive(segmentOf(minute))
    const fills = minutes * FILLS_A_MINUTE
    say(`${whole(fills)} fills are archived`)
    const levels: Record<string, Operations & { turns: number }> = {}
    let slowestMs = 0
    const startMs = performance.now()
    for (let isMore = true; isMore; ) {
      const beganMs = performance.now()
      const { level, isMore: more, ...did } = await worker.turn()
      slowestMs = Math.max(slowestMs, performance.now() - beganMs)
      isMore = more
      if (level !== null) levels[level] = added(levels[level], did)
    }
    const fillsASecond = fills / ((performance.now() - startMs) / 1000)
    return { fills, fillsASecond, slowestMs, levels }
  } finally {
    await worker.stop()
  }
}

function segmentOf(at: number) {
  const day = Math.floor(at / MINUTES_A_DAY)
  const ofDay = at % MINUTES_A_DAY
  const firstMs = (START_MINUTE + day * DAY_MINUTES + (ofDay < MINUTES_A_DAY / 2 ? ofDay : 600 + ofDay)) * MINUTE_MS
  const first = at * BLOCKS_A_MINUTE
  const events = Array.from({ length: BLOCKS_A_MINUTE }, (_, block) => {
    const time = firstMs + Math.floor((block * MINUTE_MS) / BLOCKS_A_MINUTE)
    const [from, to] = [block, block + 1].map(
      (count) => at * FILLS_A_MINUTE + Math.floor((count * FILLS_A_MINUTE) / BLOCKS_A_MINUTE),
    ) as [number, number]
    const fills = Array.from({ length: to - from }, (_, of) => fillOf(from + of, time))
    return JSON.stringify({ epoch: 'a', v: 1, t: 'events', height: first + block, time, fills, ledger: [] })
  })
  return { first, last: first + BLOCKS_A_MINUTE - 1, firstMs, lastMs: firstMs + MINUTE_MS - 1, events }
}

/** A seventh is one user's, a tenth a builder's; two are a trade. */
function fillOf(number: number, time: number) {
  const user = number % 7 === 0 ? USERS : Math.floor(randomOf(number, 1) ** 3 * USERS)
  return inventedFill(addressOf(user), number, time, number % 10 === 0 ? BUILDER : undefined, number - (number % 2))
}

function added(sum: (Operations & { turns: number }) | undefined, did: Operations): Operations & { turns: number } {
  const entries = Object.entries(did) as [keyof Operations, number][]
  const total = entries.map(([name, value]) => [name, value + (sum?.[name] ?? 0)] as const)
  return { ...(Object.fromEntries(total) as unknown as Operations), turns: 1 + (sum?.turns ?? 0) }
}
