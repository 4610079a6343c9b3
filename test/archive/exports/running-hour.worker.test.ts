// Parquet while it is made: of the running hour a file a minute, each row once for whoever reads on while minutes become an hour
// and hours a day, and of candles which are whole.

import { gunzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { type ArchiveStorage, ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { SegmentCutter } from '../../../src/archive/archive/segment-cutter.ts'
import { tableFiles } from '../../../src/archive/exports/exports.store.ts'
import { LINK_MS } from '../../../src/archive/exports/file-links.ts'
import { filePage, type ListedFile, readCursor } from '../../../src/archive/exports/file-list.ts'
import type { Compaction } from '../../../src/archive/files/compaction.store.ts'
import { type TradedBlock, tradedBlock, truth } from '../filed-candles.ts'
import { compactionOf } from '../files/places.worker.ts'
import { quickStores } from '../files/quick-stores.worker.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 10, 20, 21)
const ALL = { fromMs: 0, toMs: 8e15 }
const { archive, placeOf } = await quickStores()

const compressors = { GZIP: (packed: Uint8Array) => new Uint8Array(gunzipSync(packed)) }
const read = new Map<string, Record<string, unknown>[]>()
async function rowsOf(key: string): Promise<readonly Record<string, unknown>[]> {
  const known = read.get(key)
  if (known) return known
  const object = await archive.get(key)
  const rows = await parquetReadObjects({ file: await object!.arrayBuffer(), compressors })
  read.set(key, rows)
  return rows
}

/** Writes what is whole of the blocks; a height that is missing is a gap. */
class Chain {
  readonly place: ArchiveStorage
  nowMs = 0
  readonly #writer: ArchiveWriter
  readonly #cutter: SegmentCutter
  readonly #compaction: Compaction

  constructor(name: string, { linesMost, objectBytes }: { linesMost?: number; objectBytes?: number } = {}) {
    this.place = placeOf(name)
    this.#writer = new ArchiveWriter(this.place)
    this.#cutter = new SegmentCutter(null, linesMost)
    this.#compaction = compactionOf(this.place, { now: () => this.nowMs, objectBytes })
  }

  async take(block: TradedBlock): Promise<void> {
    const { height, time } = block
    const last = this.#cutter.height
    const gap = last !== null && height > last + 1 ? this.#cutter.addGap(last + 1, height - 1) : []
    const line = { height, time, epoch: 'a', events: JSON.stringify(block), books: '{}' }
    for (const cut of [...gap, ...this.#cutter.addBlock(line)])
      await ('gap' in cut ? this.#writer.putGap(cut.gap, 0) : this.#writer.putSegment(cut.segment))
  }

  async turns(most: number): Promise<void> {
    for (let turn = 0; turn < most; turn++) if (!(await this.#compaction.turn())) return
  }

  page(products: readonly string[], next: string | null, limit: number) {
    const sources = tableFiles(this.place.db as D1Database, this.place.chain).filter(({ product }) =>
      products.includes(product),
    )
    return filePage(sources, ALL, next === null ? null : readCursor(next, sources, ALL), limit)
  }
}

/** The rule of the documentation: a file replaces those of its product whose heights it has. */
function kept(files: readonly ListedFile[]): ListedFile[] {
  const isIn = (one: ListedFile, other: ListedFile) =>
    one.product === other.product &&
    other.first <= one.first &&
    other.last >= one.last &&
    other.last - other.first > one.last - one.first
  return files.filter((one) => !files.some((other) => isIn(one, other)))
}

/** A generator of the same numbers for a seed. */
function drawn(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * most)
  }
}

describe('listing tables while they are written', () => {
  /** Three blocks an hour, into the next day. */
  const blocks = Array.from({ length: 18 }, (_, at) =>
    tradedBlock(10 + at, START_MS + at * (HOUR_MS / 3), [{ px: 1 + at, sz: 100 }]),
  )
  const PRODUCTS = ['fills_by_user', 'fills_by_time', 'candles_by_coin']

  it.each([1, 2])(
    'returns each row once, up to the last archived block, with links that remain valid: seed %i',
    { timeout: 60_000 },
    async (seed) => {
      const draw = drawn(seed)
      const chain = new Chain(`rows-${seed}`, { objectBytes: 600 })
      const linked: { readonly key: string; readonly untilMs: number }[] = []
      const archivedTo = async () => (await new StoredArchive(chain.place).last()) ?? 0
      let next: string | null = null
      let files: ListedFile[] = []
      let filedTo = 0
      let lists = 0
      for (const block of blocks) {
        await chain.take(block)
        for (let step = 0; step < 3; step++) {
          await chain.turns(draw(4))
          chain.nowMs += draw(600_000)
          if (next === null) {
            await chain.turns(draw(2) * 100)
            filedTo = (await chain.page(['fills_by_time'], null, 1_000)).files.at(-1)?.last ?? 0
          }
          const page = await chain.page(PRODUCTS, next, 1 + draw(3))
          linked.push(...page.files.map(({ key }) => ({ key, untilMs: chain.nowMs + LINK_MS })))
          files.push(...page.files)
          next = page.next
          for (const { key, untilMs } of linked)
            if (untilMs > chain.nowMs) expect(await archive.head(key)).not.toBeNull()
          if (next !== null) continue
          lists++
          for (const product of PRODUCTS) {
            const rows = await Promise.all(
              kept(files)
                .filter((one) => one.product === product)
                .map(({ key }) => rowsOf(key)),
            )
            const heights = rows.flat().map(({ height }) => Number(height))
            const fills = product === 'candles_by_coin' ? 1 : 3
            const most = Math.max(0, ...heights)
            const all = blocks.filter(({ height }) => height <= most)
            expect(heights.sort((a, b) => a - b)).toEqual(all.flatMap(({ height }) => Array(fills).fill(height)))
            expect(most).toBeGreaterThanOrEqual(filedTo)
          }
          files = []
        }
      }
      await chain.turns(1_000)
      const { files: last } = await chain.page(PRODUCTS, null, 1_000)
      expect(Math.max(...last.map((one) => one.last))).toBe(await archivedTo())
      expect([
        lists > 5,
        last.some(({ key }) => key.includes('/day/')),
        last.some(({ key }) => key.includes('/minute/')),
      ]).toEqual([true, true, true])
    },
  )
})

it('an hour that has ended gets no tables of minutes', async () => {
  const chain = new Chain('backlog')
  for (let at = 0; at < 9; at++)
    await chain.take(tradedBlock(1 + at, START_MS + at * (HOUR_MS / 3), [{ px: 1, sz: 1 }]))
  await chain.turns(1_000)
  const { objects } = await archive.list({ prefix: 'files/backlog/minute/' })
  const tables = objects.filter(({ key }) => key.endsWith('.fills-by-time.parquet'))
  expect(tables.map(({ key }) => /(\d+)-\d+\.0000/.exec(key)![1])).toEqual(['000000000007', '000000000008'])
})

describe('a candle is complete', () => {
  const MINUTE_MS = 60_000
  /** Three a minute, over the end of an hour. */
  const blocks = Array.from({ length: 36 }, (_, at) =>
    tradedBlock(1 + at, START_MS + HOUR_MS - 8 * MINUTE_MS + 10_000 + at * 20_000, [
      { px: 1 + (at % 7), sz: 100 },
      { px: 2, sz: 50, coin: 'ETH' },
    ]),
  )
  const first = blocks[0]!
  const last = blocks.at(-1)!

  it('if its file has all blocks of its minute: it then equals the candle of all trades', async () => {
    // A segment has two blocks, and what is left of their minute.
    const chain = new Chain('complete', { linesMost: 2.5 * JSON.stringify(first).length, objectBytes: 400 })
    for (const block of blocks) await chain.take(block)
    await chain.turns(10_000)
    const { files } = await chain.page(['candles_by_coin'], null, 1_000)
    const ofHours = files.filter(({ key }) => key.includes('/hour/'))
    expect(ofHours.length).toBeGreaterThan(2)
    const rows = (await Promise.all(ofHours.map(({ key }) => rowsOf(key)))).flat()
    for (const coin of ['BTC', 'ETH']) {
      const isWhole = (t: number) => t > first.time
      const whole = truth(blocks, '1m', coin).filter(({ t }) => isWhole(t) && t < START_MS + HOUR_MS)
      const shown = rows
        .filter((row) => row.coin === coin && row.complete)
        .map((row) => [Number(row.time), row.open, row.close, row.high, row.low, row.volume, Number(row.trades)])
      expect(shown).toEqual(whole.map(({ t, o, c, h, l, v, n }) => [t, o, c, h, l, v, n]))
      const parts = rows.filter((row) => row.coin === coin && !row.complete)
      expect(parts.map(({ time }) => Number(time) / MINUTE_MS - START_MS / MINUTE_MS)).toEqual([52])
    }
    expect(last.time - START_MS).toBeGreaterThan(HOUR_MS)
    // Of the running hour each minute lies in two files.
    const running = files.filter(({ key }) => key.includes('/minute/'))
    const marks = (await Promise.all(running.map(({ key }) => rowsOf(key)))).flat().map(({ complete }) => complete)
    expect([marks.length > 0, new Set(marks)]).toEqual([true, new Set([false])])
  })

  it('in the current hour, if its minute is in one file', async () => {
    const chain = new Chain('whole')
    for (const block of blocks) await chain.take(block)
    await chain.turns(10_000)
    const { files } = await chain.page(['candles_by_coin'], null, 1_000)
    const running = files.filter(({ key }) => key.includes('/minute/'))
    const rows = (await Promise.all(running.map(({ key }) => rowsOf(key)))).flat()
    expect(rows.length).toBeGreaterThan(2)
    expect(rows.filter(({ complete }) => !complete)).toEqual([])
  })
})
