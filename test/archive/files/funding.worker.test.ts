// Funding of the files in D1: sums that are differences of two rows, and where they may be asked for.

import { describe, expect, it } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { type ArchiveStorage, ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { LINK_MS } from '../../../src/archive/exports/file-links.ts'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import { FilesWriter } from '../../../src/archive/files/files-writer.store.ts'
import { joinStretches } from '../../../src/archive/funding-spans.ts'
import { searchPayments } from '../../../src/block-log/retained-payments.ts'
import { encodeBlock } from '../../../src/block-log/segment.ts'
import { err, ok } from '../../../src/core/result.ts'
import { BlockHistory } from '../../../src/devnet/info/block-history.ts'
import { convertEvents } from '../../../src/feeder/convert.ts'
import { userFunding } from '../../../src/info/queries/userFunding.ts'
import { eventHistoryOf } from '../../../src/info/sources/event-history.ts'
import type { Block } from '../../../src/protocol/feed/block.ts'
import type { BlockRange, EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { withPayments } from '../../../src/protocol/feed/payments.ts'
import { USER, units } from '../trading.ts'
import { compact, counted, segmentOf } from './places.worker.ts'
import { quickStores } from './quick-stores.worker.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 10, 20)
const timeOf = (height: number) => START_MS + (height * HOUR_MS) / 3
const { history, placeOf } = await quickStores()
const head = (height: number) => ({ height, time: timeOf(height) })

interface Stored {
  readonly blocks: readonly EventBlock[]
  /** Heights of segments, both included, of which some are known by their fills alone. */
  readonly segments: readonly { readonly first: number; readonly last: number; readonly only?: 'fills' }[]
}

/** Archived, and made into files. */
async function stored(place: ArchiveStorage, { blocks, segments }: Stored): Promise<StoredFiles> {
  const archive = new ArchiveWriter(place)
  for (const { first, last, only } of segments) {
    const heights = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const events = heights.map((height) => {
      const { fills = [], funding = [] } = blocks.find((block) => block.height === height) ?? {}
      return JSON.stringify({ ...(only && { only }), ...head(height), fills, ledger: [], funding })
    })
    await archive.putSegment(segmentOf(heights.map(head), events))
  }
  await makeFiles(place)
  return new StoredFiles(place)
}

const makeFiles = (place: ArchiveStorage, now = 0, isBounded = false) =>
  compact(place, { now: () => now, isBounded, objectBytes: 8_000 })

const every = (count: number, length: number) =>
  Array.from({ length: Math.ceil(count / length) }, (_, at) => {
    return { first: at * length, last: Math.min(count, (at + 1) * length) - 1 }
  })
/** Each third block begins an hour. */
const paying = (count: number): EventBlock[] =>
  Array.from({ length: count }, (_, height) => {
    const both = [
      { coin: 'BTC', perUnit: `${height % 2 ? '-' : ''}1.00000000000000000${height % 10}` },
      { coin: 'ETH', perUnit: '0.1' },
      // Late, and beside its own.
      { coin: 'ETH', perUnit: '0.02' },
    ]
    return { ...head(height), fills: [], funding: height % 3 === 0 ? both : [] }
  })
/** A file of a minute with these payments, and nothing else. */
const putMinute = (
  place: ArchiveStorage,
  first: number,
  last: number,
  payments: readonly { coin: string; height: number; perUnit: string }[],
) => {
  const file = { first, last, firstMs: timeOf(first), lastMs: timeOf(last) }
  const made = { pages: [], bytes: 0, entries: [], candles: [] }
  const writer = new FilesWriter(place, () => 0)
  return writer.putMinute({
    file,
    content: made,
    tables: [],
    known: 'events',
    payments,
    isPaidKnown: false,
    unfiled: null,
  })
}

const sumOf = (blocks: readonly EventBlock[], of: string) =>
  blocks
    .flatMap(({ funding }) => funding)
    .reduce((sum, { coin, perUnit }) => (coin === of ? sum + units(perUnit, 18) : sum), 0n)

describe('paid funding', () => {
  const blocks = paying(90)
  const place = placeOf('paid')

  it('of any span is one exact number; all spans need one D1 query and no R2 read', async () => {
    await stored(place, { blocks, segments: every(90, 4) })
    const { place: asked, calls, batch } = counted(place)
    const files = new StoredFiles(asked)
    const ends = [0, 1, 2, 3, 4, 44, 45, 87, 88, 89]
    const spans = ['BTC', 'ETH', 'SOL'].flatMap((coin) =>
      ends.flatMap((from) => ends.filter((to) => to >= from).map((to) => ({ coin, from, to }))),
    )
    const paid = await Promise.all(spans.map(async (span) => [span, await files.funding([span])] as const))
    for (const [{ coin, from, to }, [one, ...more]] of paid) {
      const within = blocks.filter(({ height }) => from <= height && height <= to)
      const isPaid = within.some(({ funding }) => funding.some((payment) => payment.coin === coin))
      expect([one?.coin, one?.from, more]).toEqual([isPaid ? coin : undefined, isPaid ? from : undefined, []])
      expect(units(one?.perUnit ?? '0.0', 18)).toBe(sumOf(within, coin))
    }
    calls()
    await files.funding(spans.slice(0, 1))
    const [one] = await batch.mock.results[0]!.value
    expect(one!.meta.rows_read).toBeLessThan(8)
    calls()
    expect(await files.funding(spans)).toHaveLength(paid.filter(([, found]) => found.length > 0).length)
    expect(calls()).toEqual([1, 0])
    expect(await files.funding([])).toEqual([])
  })

  it('that came late in the first block of a file is of the block before, if the files have that block', async () => {
    const place = placeOf('late')
    await putMinute(place, 0, 3, [{ coin: 'BTC', height: 1, perUnit: '1' }])
    await putMinute(place, 4, 7, [{ coin: 'BTC', height: 3, perUnit: '0.5' }])
    await putMinute(place, 20, 23, [{ coin: 'BTC', height: 19, perUnit: '0.25' }])
    const files = new StoredFiles(place)
    const paid = async (from: number, to: number) => (await files.funding([{ coin: 'BTC', from, to }]))[0]?.perUnit
    expect(await Promise.all([paid(0, 2), paid(0, 3), paid(3, 3), paid(4, 7)])).toEqual(['1', '1.5', '0.5', undefined])
    expect(await Promise.all([paid(19, 19), paid(20, 20)])).toEqual([undefined, '0.25'])
  })

  it('is written identically each time', async () => {
    const rows = () => history.prepare(`SELECT * FROM file_funding WHERE chain = 'paid'`).all()
    const before = await rows()
    const payments = blocks.slice(44, 48).flatMap(({ height, funding }) => {
      return funding.slice(0, 1).map(({ coin, perUnit }) => ({ coin, perUnit, height }))
    })
    await putMinute(place, 44, 47, payments)
    expect((await rows()).results).toEqual(before.results)
    expect((await new StoredFiles(place).coverage('events'))?.funded).toEqual([{ from: 0, fromMs: timeOf(0), to: 89 }])
  })
})

describe('ranges with known funding', () => {
  it('have no gaps, and no blocks of which only the fills are known', async () => {
    const segments = [...every(40, 4), { first: 40, last: 43, only: 'fills' as const }, { first: 50, last: 60 }]
    const files = await stored(placeOf('known'), { blocks: paying(61), segments })
    expect(await files.coverage('events')).toMatchObject({
      gaps: [
        { from: 40, to: 43, known: 'fills' },
        { from: 44, to: 49, known: null },
      ],
      funded: [
        { from: 0, fromMs: timeOf(0), to: 39 },
        { from: 50, fromMs: timeOf(50), to: 60 },
      ],
    })
  })

  it('that were written after the range above them stay separate', async () => {
    const place = placeOf('above')
    // The last is of a file that was damaged, and is made again.
    for (const first of [50, 60, 30, 40, 50])
      await putMinute(place, first, first + 9, [{ coin: 'BTC', height: first + 1, perUnit: '1' }])
    const files = new StoredFiles(place)
    expect((await files.coverage('events'))?.funded.map(({ from, to }) => [from, to])).toEqual([
      [30, 49],
      [50, 69],
    ])
    const spans = [30, 50].map((from) => ({ coin: 'BTC', from, to: from + 19 }))
    expect((await files.funding(spans)).map(({ perUnit }) => perUnit)).toEqual(['2', '2'])
    // A span over both is their sum, although the upper range was summed before the lower one existed.
    const over = [30, 42].map((from) => ({ coin: 'BTC', from, to: 69 }))
    expect((await files.funding(over)).map(({ perUnit }) => perUnit)).toEqual(['4', '2'])
  })

  it('are removed together with the files if the archive is bounded', async () => {
    const place = placeOf('bounded-funding')
    const blocks = paying(100)
    const files = await stored(place, { blocks, segments: every(100, 4) })
    await history.prepare(`DELETE FROM segments WHERE chain = 'bounded-funding' AND first < 72`).run()
    for (const now of [0, LINK_MS + 600_001]) for (let turn = 0; turn < 20; turn++) await makeFiles(place, now, true)
    const left = history.prepare(
      `SELECT MIN(height) AS first, COUNT(*) AS n FROM file_funding WHERE chain = 'bounded-funding'`,
    )
    expect(await left.first()).toEqual({ first: 72, n: 2 * 10 })
    const [paid] = await files.funding([{ coin: 'BTC', from: 73, to: 99 }])
    expect(units(paid!.perUnit, 18)).toBe(sumOf(blocks.slice(73, 100), 'BTC'))
    const funded = async () => (await files.coverage('events'))?.funded
    expect(await funded()).toEqual([{ from: 72, fromMs: timeOf(72), to: 99 }])
    await putMinute(place, 60, 71, [{ coin: 'BTC', height: 66, perUnit: '7' }])
    expect((await funded())?.map(({ from, to }) => [from, to])).toEqual([
      [60, 71],
      [72, 99],
    ])
    expect(await files.funding([{ coin: 'BTC', from: 60, to: 71 }])).toMatchObject([{ perUnit: '7' }])
  })
})

describe('payments of wallets', () => {
  const WALLETS = Array.from({ length: 40 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
  const truth = new BlockHistory(0)
  /** Each third block begins an hour; the fifth hour is of a feeder that does not tell who paid, one comes behind its time. */
  const UNTOLD = 12
  const LATE = 75
  const paidMs = (height: number) => timeOf(height) - (height === LATE ? 5_000 : 0)
  const BLOCKS = 90
  const LOG_FROM = 70
  const blocks = Array.from({ length: BLOCKS }, (_, height): Block => {
    const block = { height, time: timeOf(height), fills: [], ledger: [], funding: [], books: null }
    if (height % 3 > 0) return block
    const deltas = ['BTC', 'ETH', 'xyz:GOLD'].flatMap((coin, at) =>
      WALLETS.filter((_, wallet) => (wallet + height) % (at + 2) === 0).map((user, paid) => {
        return { user, coin, funding_amount: `-${paid}.${height}`, szi: `${paid + 1}.5`, funding_rate: '0.0000125' }
      }),
    )
    const paid = { time: '', hash: '', inner: { Funding: { deltas } } }
    truth.record({ timeMs: paidMs(height), fills: [], orderStatuses: [], miscEvents: [paid] })
    const time = new Date(paidMs(height)).toISOString().slice(0, -1)
    const misc = [{ time, hash: '0x0', inner: { Funding: { deltas } } }]
    const { payments, ...told } = convertEvents(
      { fills: [], misc, twaps: null, statuses: null },
      paidMs(height),
      () => {},
    )
    return { ...block, ...told, ...(height !== UNTOLD && { payments: payments! }) }
  })
  const texts = blocks.map((block) => encodeBlock(block, null))
  const place = placeOf('wallets')

  async function ask(user: string, body: object, theirs: readonly object[] | null) {
    const files = new StoredFiles(place)
    const text = texts
      .slice(LOG_FROM)
      .map(({ events }) => events)
      .join('\n')
    const paid = texts.slice(LOG_FROM).map(({ payments }) => payments)
    const held = joinStretches(
      head(BLOCKS - 1),
      searchPayments({ last: BLOCKS - 1, text }, paid, user).stretches as [BlockRange],
    )
    const past = eventHistoryOf({
      history: { stored: async () => ok(held) },
      files,
      archive: new StoredArchive(place),
      after: () => () => {},
    })
    const upstream = {
      request: async (_: string, text: string) => {
        const { startTime = 0, endTime } = JSON.parse(text) as { startTime?: number; endTime: number }
        if (theirs === null) return err({ kind: 'unavailable', what: 'nobody' } as const)
        const rows = (theirs as { time: number }[]).filter(({ time }) => time >= startTime && time <= endTime)
        return ok({ text: JSON.stringify(rows) })
      },
    }
    const answer = await userFunding.resolve(
      { type: 'userFunding', user, ...body } as never,
      { events: past, upstream } as never,
    )
    if (!answer.ok) throw new Error(JSON.stringify(answer.error))
    return { rows: JSON.parse(answer.value.body) as { time: number }[], since: answer.value.since?.height }
  }

  it('are read from log and files as the exchange returns them', async () => {
    const archive = new ArchiveWriter(place)
    for (const { first, last } of every(BLOCKS, 4)) {
      const events = texts.slice(first, last + 1).map(({ events: line, payments }) => withPayments(line, payments))
      await archive.putSegment(segmentOf(blocks.slice(first, last + 1), events))
    }
    await makeFiles(place)
    const cover = await new StoredFiles(place).coverage('payments')
    expect(cover?.paid?.map(({ from, to }) => [from, to])).toEqual([
      [0, 11],
      [16, 89],
    ])
    for (const user of [WALLETS[0]!, WALLETS[7]!, WALLETS[39]!, USER]) {
      const all = truth.wallet(user)?.payments.toArray() ?? []
      const own = all.filter(({ time }) => time >= timeOf(16))
      const startTime = timeOf(16) + 1
      const mine = await ask(user, { startTime }, null)
      expect(mine.rows).toEqual(own.filter(({ time }) => time >= startTime))
      const both = await ask(user, {}, all)
      expect([both.rows, both.since]).toEqual([all, 16])
      // The day in which ours begin is a source's alone, whichever window asks for it.
      const day = { time: START_MS, delta: { ...all[0]?.delta, nSamples: 24 } }
      const rest = all.filter(({ time }) => time >= START_MS + 24 * HOUR_MS)
      expect((await ask(user, {}, [day])).rows).toEqual([day, ...rest])
      expect((await ask(user, { startTime: timeOf(40) }, [day])).rows).toEqual(rest)
      for (const [from, to] of [
        [paidMs(LATE), paidMs(LATE) + 1],
        [paidMs(LATE) + 1, timeOf(LATE)],
      ] as const) {
        const window = { startTime: from, endTime: to }
        expect((await ask(user, window, [])).rows).toEqual(all.filter(({ time }) => time >= from && time <= to))
      }
    }
    const [{ n }] = (
      await history.prepare(`SELECT COUNT(*) AS n FROM file_paid WHERE chain = 'wallets'`).all<{ n: number }>()
    ).results as [{ n: number }]
    expect(n).toBe(2)
  })
})
