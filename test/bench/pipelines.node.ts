// Measures pipelines at the exchange's size that send to a webhook on this machine: how fast they work through a
// backlog from the archive and the log, and how late rows are at the exchange's block rate. There is no bare
// baseline, because no bare target does the same. The exchange's own rate is the reference.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Block, BookChange } from '../../src/protocol/feed/block.ts'
import { RunningFeeder } from '../kit/feeder.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { spreadOf } from '../kit/statistics.ts'
import { buildPlant, Plant, pipelineOf } from '../pipelines/plant/plant.node.ts'
import { EXCHANGE_BLOCKS_PER_SECOND } from './blocks.ts'
import { addressOf, inventedFill, randomOf } from './invented-fills.ts'
import { exchangeLine, type Line, ms, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL = 10
/** Of the exchange: 81 fills a second; some 60 coins of 300 change in a block, of which 438 raw diffs leave half as levels. */
const FILLS_A_BLOCK = 81 / EXCHANGE_BLOCKS_PER_SECOND
const COINS = 300
const CHANGED = 60
const LEVELS = 4
const BLOCK_MS = 1000 / EXCHANGE_BLOCKS_PER_SECOND
export const FIRST = 1_000
const PATIENCE_MS = 600_000
export const coinNames = Array.from({ length: COINS }, (_, at) => (at === 0 ? 'BTC' : `C${at}`))
const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`
const TRANSFORM = { out: 'SELECT _key, _height, _time, coin, px, sz, CAST(px AS REAL) * sz AS ntl FROM fills' }

export async function pipelineLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  await buildPlant()
  const plant = new Plant()
  const hook = await startHook()
  // Six minutes end in the archive, beyond what the log holds.
  const blocks = quick ? 1_500 : 7_000
  const begunMs = Date.now() - blocks * BLOCK_MS
  const feeder = { of: null as RunningFeeder | null }
  try {
    await plant.start()
    const owner = await plant.owner('1000000')
    const config = { type: 'webhook', url: hook.url, secret: SECRET } as const
    const shared = { destination_config: config, execution_start_from: String(FIRST + 1) }
    feeder.of = new RunningFeeder(
      plant.ws,
      FIRST,
      (height) => blockOf(height, begunMs + (height - FIRST) * BLOCK_MS),
      coinNames,
    )
    let head = FIRST
    for (; head < FIRST + blocks; head += 100) {
      feeder.of.advance(head + 100)
      while (feeder.of.acked < head - 300) await sleep(20)
    }
    while (feeder.of.acked < head) await sleep(50)
    say(`${whole(blocks)} blocks are there`)
    const lines: Line[] = []
    const kinds = [
      ['fills', {}],
      ['fills, through a transform', { transforms: TRANSFORM }],
      ['book_diffs', { topic: 'book_diffs' }],
    ] as const
    for (const [at, [what, over]] of kinds.entries()) {
      const id = `pipe_${at}`
      const startMs = performance.now()
      await plant.apply(pipelineOf(owner, id, { ...shared, ...over }))
      await reached(plant, id, head)
      const seconds = (performance.now() - startMs) / 1000
      const { rows } = await plant.statusOf(id)
      const more = `, ${whole(rows / seconds)} rows/s`
      lines.push(
        exchangeLine(`a pipeline of ${what}: a backlog of ${whole(blocks)} blocks`, blocks / seconds, GOAL, more),
      )
    }
    return [...lines, await lagLine(plant, feeder.of, hook, head, quick)]
  } finally {
    feeder.of?.end()
    await plant.end()
    hook.close()
    plant.remove()
  }
}

async function lagLine(plant: Plant, feeder: RunningFeeder, hook: Hook, from: number, quick: boolean): Promise<Line> {
  const sentMs = new Map<number, number>()
  hook.told.length = 0
  let head = from
  const untilMs = Date.now() + (quick ? 8_000 : 40_000)
  for (const startMs = Date.now(); Date.now() < untilMs; await sleep(5)) {
    const due = from + Math.floor((Date.now() - startMs) / BLOCK_MS)
    for (; head < due; head++) sentMs.set(head + 1, Date.now())
    feeder.advance(head)
  }
  for (const id of ['pipe_0', 'pipe_1', 'pipe_2']) await reached(plant, id, head)
  const lags = hook.told.flatMap(({ first, last, atMs }) =>
    [...sentMs].flatMap(([height, ms]) => (height >= first && height <= last ? [atMs - ms] : [])),
  )
  const { p50, p99 } = spreadOf(Float64Array.from(lags), lags.length)
  return {
    what: `from a block to its rows at the destination, three pipelines at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s, p50 · p99`,
    bare: '–',
    weir: `${ms(p50)} · ${ms(p99)}`,
    goal: '≤ 3 s · ≤ 5 s',
    met: p50 <= 3_000 && p99 <= 5_000,
  }
}

async function reached(plant: Plant, id: string, head: number): Promise<void> {
  const untilMs = Date.now() + PATIENCE_MS
  for (;;) {
    const status = await plant.statusOf(id)
    if ((status.height ?? 0) >= head) return
    if (Date.now() > untilMs) throw new Error(`${id} stands still: ${JSON.stringify(status)}`)
    await sleep(50)
  }
}

export function blockOf(height: number, time: number): Block {
  const first = Math.floor((height - FIRST) * FILLS_A_BLOCK)
  const count = Math.floor((height - FIRST + 1) * FILLS_A_BLOCK) - first
  const fills = Array.from({ length: count }, (_, at) =>
    inventedFill(addressOf((first + at) % 5_000), first + at, Math.floor(time)),
  )
  const books = Array.from({ length: CHANGED }, (_, at): BookChange => {
    const levels = Array.from({ length: LEVELS }, (_, level) => {
      const draw = randomOf(height * CHANGED + at, level)
      return { px: (draw * 90_000).toFixed(1), sz: (draw * 9).toFixed(5), n: 1 + (level % 3) }
    })
    return { coin: coinNames[(height * 7 + at * 5) % COINS]!, levels: [levels.slice(0, 2), levels.slice(2)] }
  })
  return {
    height,
    time: Math.floor(time),
    fills,
    ledger: [],
    funding: [],
    books: [...new Map(books.map((one) => [one.coin, one])).values()],
  }
}

interface Hook extends HttpServer {
  /** Heights of batches, and when they came. */
  readonly told: { readonly first: number; readonly last: number; readonly atMs: number }[]
}

/** Takes everything and reads the head of each batch. */
async function startHook(): Promise<Hook> {
  const told: Hook['told'] = []
  const server = await startServer(async (request, response) => {
    let head = ''
    for await (const piece of request) head ||= String(piece).slice(0, 300)
    const [, first, last] = /"from":(\d+),"to":(\d+)/.exec(head)!
    told.push({ first: Number(first), last: Number(last), atMs: Date.now() })
    response.end('ok')
  })
  return { ...server, url: `${server.url}/`, told }
}
