// Measures `npx weir repair` at the exchange's size: how fast the blocks of a gap come into the archive from a node's folder
// and from the segments of another archive, and what the clients of the live path notice of it.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { segmentKey } from '../../src/archive/archive/archive-keys.ts'
import { eventsLine } from '../../src/archive/archive/backfill-lines.ts'
import { amountsOf } from '../../src/archive/fill-amounts.ts'
import { build } from '../../src/cli/launch/build.node.ts'
import { Connection } from '../../src/client/connection.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import type { Responses } from '../../src/console/responses.ts'
import { isoNanos } from '../../src/devnet/exchange/node-block.ts'
import { HourlyFile } from '../../src/devnet/files/hourly-file.node.ts'
import { STREAM_FOLDER } from '../../src/feeder/streams.ts'
import type { Block } from '../../src/protocol/feed/block.ts'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import type { LogStatus } from '../../src/protocol/feed/status-shape.ts'
import { Feeder } from '../kit/feeder.ts'
import { ADMIN_TOKEN, startWorld, type World } from '../kit/gateway.ts'
import { ROOT, run, scratch } from '../kit/program.ts'
import { spreadOf } from '../kit/statistics.ts'
import { until } from '../kit/until.ts'
import { giveWay } from '../soak/machine.node.ts'
import { EXCHANGE_BLOCKS_PER_SECOND } from './blocks.ts'
import { blockOf, coinNames, FIRST } from './pipelines.node.ts'
import { exchangeLine, type Line, ms, pairLine, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const GOAL = 20
const BLOCK_MS = 1000 / EXCHANGE_BLOCKS_PER_SECOND
/** Around a gap: more than a minute, so that the gap is archived. */
const AROUND = 1_500
const CHAIN = 'hyperliquid'
/** Blocks of a segment. */
const MINUTE_BLOCKS = 870
const PATIENCE_MS = 300_000
/** Of what clients notice, within noise: a p99 is of few blocks. */
const NOTICED = { p50: 1.1, p99: 1.5 } as const

const SOURCES = {
  'a node’s folder (fills)': writeNodeFiles,
  'another archive’s segments (events)': writeSegments,
} as const

export async function repairLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  await build(ROOT)
  const folder = scratch()
  const world = await startWorld({ isArchived: true })
  const missing = quick ? 2_000 : 26_100
  const live = new LivePath(world, 2 * (missing + 2 * AROUND))
  try {
    await live.start()
    await live.sendAtOnce(AROUND)
    await archiveBegins(world)
    const lines: Line[] = []
    for (const [number, [what, write]] of Object.entries(SOURCES).entries()) {
      const source = join(folder.path, String(number))
      const lost = live.lose(missing)
      write(source, lost)
      await live.sendAtOnce(AROUND)
      live.begin()
      await isArchived(world, lost[0]!.height)
      // The time without a repair has no other work of the archive than that of the live blocks.
      const gaps = await filesReach(world, lost.at(-1)!.height)
      say(`a gap of ${whole(missing)} blocks`)
      const restMs = quick ? 5_000 : 30_000
      let seconds = 0
      const before = await live.latenciesWhile(() => sleep(restMs))
      const during = await live.latenciesWhile(async () => {
        seconds = await repair(world, source, missing)
      })
      await filesReach(world, lost.at(-1)!.height, gaps - 1)
      const after = await live.latenciesWhile(() => sleep(restMs))
      await live.pause()
      lines.push(exchangeLine(`repair of ${whole(missing)} blocks from ${what}`, missing / seconds, GOAL))
      lines.push(...noticedLines([...before, ...after], during))
    }
    return lines
  } finally {
    live.end()
    await world.stop()
    folder.remove()
  }
}

/** What a client notices of a repair, against the time before and after it. */
function noticedLines(without: readonly number[], during: readonly number[]): Line[] {
  const [bare, weir] = [without, during].map((samples) => spreadOf(Float64Array.from(samples), samples.length))
  return (['p50', 'p99'] as const).map((name) =>
    pairLine(
      `a block to a client of all coins during this repair, ${name}`,
      { bare: bare![name], weir: weir![name], ratio: weir![name] / bare![name] },
      ms,
      { most: NOTICED[name], base: 'no repair' },
    ),
  )
}

/** Seconds that the program needs for the gap, with its start. */
async function repair(world: World, source: string, missing: number): Promise<number> {
  const startMs = performance.now()
  const program = run('repair', ['--url', world.url, '--once', '--min-age', '0', `copy=${source}`], {
    ADMIN_TOKEN,
  })
  // It runs on another machine.
  giveWay(program.process.pid!)
  await until(() => program.process.exitCode !== null, 'the repair does not end', {
    withinMs: PATIENCE_MS,
    everyMs: 20,
  })
  const seconds = (performance.now() - startMs) / 1000
  const said = program.lines.at(-1)
  if (!said?.startsWith(`Repaired ${missing} blocks.`)) throw new Error(`repair said ${said}; ${program.errors()}`)
  return seconds
}

/** Until then, the log keeps its blocks for minutes only, which a long gap exceeds. */
async function archiveBegins(world: World): Promise<void> {
  const hasSegments = async () => ((await world.status<Pick<LogStatus, 'archive'>>()).archive?.segments ?? 0) > 0
  await until(hasSegments, 'nothing is archived', { withinMs: PATIENCE_MS, everyMs: 250 })
}

async function isArchived(world: World, from: number): Promise<void> {
  const holds = async () => {
    const { gaps } = await world.ask<Responses['showBackfill']>('GET', '/history/backfill')
    return gaps.some((gap) => gap.from === from && gap.recorded_ms !== null)
  }
  await until(holds, `the gap from ${from} is not archived`, { withinMs: PATIENCE_MS })
}

/** Waits until files have a block, and at most so many ranges are in none. Returns their number. */
async function filesReach(world: World, height: number, most = Number.POSITIVE_INFINITY): Promise<number> {
  let gaps = 0
  const isReached = async () => {
    const { archive } = await world.status<Pick<LogStatus, 'archive'>>()
    gaps = archive?.files?.gaps ?? Number.POSITIVE_INFINITY
    return (archive?.files?.height ?? -1) > height && gaps <= most
  }
  await until(isReached, `no files have block ${height}`, { withinMs: PATIENCE_MS, everyMs: 250 })
  return gaps
}

/** A feeder of blocks of the exchange's size, which may skip some, and a client of all their books. */
class LivePath {
  readonly #world: World
  readonly #begunMs: number
  /** By wallet and coin. */
  readonly #positions = new Map<string, string>()
  readonly #sentMs = new Map<number, number>()
  #samples: number[] = []
  #feeder: Feeder | null = null
  #client: Connection | null = null
  #height = FIRST
  #pacing: Promise<void> | null = null
  #isPacing = false

  /** `ahead`: blocks to come before the present. */
  constructor(world: World, ahead: number) {
    this.#world = world
    this.#begunMs = Date.now() - ahead * BLOCK_MS
  }

  async start(): Promise<void> {
    const { ws, url } = this.#world
    this.#feeder = await Feeder.connect(ws)
    await this.#feeder.hello()
    this.#seed()
    const key = await this.#world.newKey('100000000', { plan: 'enterprise' })
    this.#client = new Connection(nodeRuntime(), { endpoint: () => ({ url, key }) })
    this.#client.subscribe(
      { type: 'l2BookDiff2', marketTypes: ['*'] },
      {
        frame: (frame) => {
          if (frame.channel !== 'l2BookDiff2' || !('Updates' in frame.data)) return
          const sentMs = this.#sentMs.get(frame.data.Updates.block_height)
          if (sentMs !== undefined) this.#samples.push(performance.now() - sentMs)
        },
        refused: (reason) => {
          throw new Error(reason)
        },
      },
    )
    this.#client.start()
  }

  async sendAtOnce(count: number): Promise<void> {
    for (const end = this.#height + count; this.#height < end; ) {
      for (let at = 0; at < 100; at++) this.#feeder!.block(this.#next())
      const isAcked = (frame: GatewayFrame) => frame.type === 'ack' && frame.height >= this.#height
      await this.#feeder!.socket.next(isAcked, PATIENCE_MS)
    }
  }

  /** Blocks that no feeder sends. Their books are not needed. */
  lose(count: number): Block[] {
    const lost = Array.from({ length: count }, () => ({ ...this.#next(), books: null }))
    this.#seed()
    return lost
  }

  /** From now on, blocks come at the exchange's rate. */
  begin(): void {
    this.#isPacing = true
    this.#pacing = this.#pace()
  }

  async pause(): Promise<void> {
    this.#isPacing = false
    await this.#pacing
  }

  /** From the feeder's write to the client's read, of each block. */
  async latenciesWhile(work: () => Promise<unknown>): Promise<readonly number[]> {
    this.#samples = []
    this.#sentMs.clear()
    await work()
    return this.#samples
  }

  end(): void {
    this.#isPacing = false
    this.#client?.close()
    this.#feeder?.socket.drop()
  }

  async #pace(): Promise<void> {
    const startMs = performance.now()
    for (let sent = 0; this.#isPacing; sent++) {
      await sleep(Math.max(0, startMs + sent * BLOCK_MS - performance.now()))
      const block = this.#next()
      this.#sentMs.set(block.height, performance.now())
      this.#feeder!.block(block)
    }
  }

  #seed(): void {
    const books = coinNames.map((coin) => ({ coin, levels: [[{ px: '1', sz: '1', n: 1 }], []] as never }))
    this.#feeder!.snapshot(this.#height, this.#timeOf(this.#height), books)
  }

  #timeOf(height: number): number {
    return Math.floor(this.#begunMs + (height - FIRST) * BLOCK_MS)
  }

  /** Positions continue from fill to fill, as the gateway expects them of a source. */
  #next(): Block {
    const height = ++this.#height
    const block = blockOf(height, this.#timeOf(height))
    for (const [user, fill] of block.fills) {
      const key = `${user} ${fill.coin}`
      fill.startPosition = this.#positions.get(key) ?? '0.0'
      const amounts = amountsOf(fill)
      if (amounts) this.#positions.set(key, amounts.end.toFixed())
    }
    return block
  }
}

function writeNodeFiles(folder: string, blocks: readonly Block[]): void {
  const file = new HourlyFile(join(folder, STREAM_FOLDER.fills), Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  for (const { height, time, fills } of blocks) {
    const at = BigInt(time) * 1_000_000n
    const line = { local_time: isoNanos(at), block_time: isoNanos(at), block_number: height, events: fills }
    file.append(JSON.stringify(line), at)
  }
  file.close()
}

function writeSegments(folder: string, blocks: readonly Block[]): void {
  for (let from = 0; from < blocks.length; from += MINUTE_BLOCKS) {
    const some = blocks.slice(from, from + MINUTE_BLOCKS)
    const first = some[0]!
    const last = some.at(-1)!
    const path = join(
      folder,
      segmentKey(CHAIN, { first: first.height, last: last.height, firstMs: first.time }, 'events'),
    )
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, gzipSync(some.map(({ books: _, ...block }) => eventsLine(block)).join('\n')))
  }
}
