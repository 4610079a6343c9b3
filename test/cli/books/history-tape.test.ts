import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CoinEvent, HistoryTape, type TapeSource, type TimeRange } from '../../../src/cli/books/history-tape.ts'
import { LevelBook } from '../../../src/order-books/level-book.ts'
import { COINS, type RecordedObject, type RecordingPlan, record } from './recording.ts'

const DAY = Date.UTC(2026, 10, 28)

/** The objects as a source. Counts the checkpoints that were read. */
function sourceOf(objects: readonly RecordedObject[], reads: number[] = []): TapeSource {
  const within = (product: string, { fromMs, toMs }: TimeRange) =>
    objects.filter((one) => one.product === product && one.from_ms >= fromMs && one.from_ms <= toMs)
  const linesOf = ({ bytes }: RecordedObject) => gunzipSync(bytes).toString().trimEnd().split('\n')
  return {
    async *segments(kind, range) {
      for (const object of within(kind, range))
        yield {
          first: object.from_height,
          last: object.to_height,
          async *lines() {
            yield* linesOf(object)
          },
        }
    },
    async *checkpoints(range) {
      for (const object of within('checkpoints', range))
        yield {
          height: object.from_height,
          timeMs: object.from_ms,
          read: async (coins) => {
            reads.push(object.from_height)
            const [head, ...books] = linesOf(object).map((line) => JSON.parse(line))
            const names = head.members.map(([coin]: [string]) => coin)
            return { head, coins: names, books: books.filter(({ coin }) => coins.has(coin)) }
          },
        }
    },
  }
}

async function tapeOf(plan: RecordingPlan, range: TimeRange, reads: number[] = []) {
  const recording = record(plan)
  const request = { ...range, coins: new Set<string>(COINS), hasTrades: true }
  const tape = new HistoryTape(sourceOf(recording.objects, reads), request)
  await tape.open()
  const events: CoinEvent[] = []
  for await (const event of tape.events()) events.push(event)
  return { ...recording, events, tape }
}

/** Folds the events of a coin, and compares the book of each height with the recorded one. Answers the heights with a book. */
function check(coin: string, { blocks, events }: Awaited<ReturnType<typeof tapeOf>>): number[] {
  const truth = new Map(blocks.map((block) => [block.height, block]))
  let book: LevelBook | null = null
  let height = -1
  const known: number[] = []
  for (const { event } of events.filter((one) => one.coin === coin)) {
    expect(event.height).toBeGreaterThanOrEqual(height)
    height = event.height
    if (event.kind === 'gap') book = null
    else if (event.kind === 'snapshot') book = LevelBook.of(event.levels)
    else if (event.kind === 'change') {
      expect(book, `a change at ${height} without a book`).not.toBeNull()
      book!.apply(event.levels)
    }
    if (event.kind === 'snapshot' || event.kind === 'change') {
      expect(book!.levels(), `${coin} at ${height}`).toEqual(truth.get(height)!.books.get(coin))
      known.push(height)
    }
  }
  return known
}

const PLAN: RecordingPlan = {
  startMs: DAY - 600_000,
  blocks: 600,
  stepMs: 2_000,
  seed: 1,
  checkpoints: (at) => at % 100 === 0,
}
const RANGE = { fromMs: DAY, toMs: DAY + 300_000 }

describe('an export', () => {
  it('starts with a snapshot after the first block of the range, and has the exact book of each height', async () => {
    const all = await tapeOf(PLAN, RANGE)
    for (const coin of COINS) {
      const known = check(coin, all)
      expect(known[0]).toBe(400)
      expect(known.length).toBeGreaterThan(50)
      const own = all.events.filter((one) => one.coin === coin)
      expect(own.map(({ event }) => event.kind)).not.toContain('gap')
      expect(own.filter(({ event }) => event.kind === 'snapshot').length).toBe(1)
    }
    expect(all.tape.last).toMatchObject({ height: 550, time: DAY + 300_000 })
  })

  it('has each trade of the range once, with its block, before the changes of that block', async () => {
    const { blocks, events } = await tapeOf(PLAN, RANGE)
    const own = events.filter(({ coin, event }) => coin === 'BTC' && event.kind === 'trade')
    const told = own.map(({ event }) => [event.height, event.kind === 'trade' && event.trade.sz])
    const wanted = blocks
      .filter(({ time }) => time >= RANGE.fromMs && time <= RANGE.toMs)
      .flatMap(({ height, trades }) => trades.map(({ sz }) => [height, sz]))
    expect(told).toEqual(wanted)
    for (const [at, { coin, event }] of events.entries())
      if (event.kind === 'change')
        expect(
          events
            .slice(at)
            .some((one) => one.coin === coin && one.event.kind === 'trade' && one.event.height === event.height),
        ).toBe(false)
  })

  it('starts each day with a snapshot', async () => {
    const { events } = await tapeOf({ ...PLAN, startMs: DAY - 600_000 }, { fromMs: DAY - 300_000, toMs: DAY + 300_000 })
    const starts = events.filter(({ coin, event }) => coin === 'BTC' && event.kind === 'snapshot')
    expect(starts.map(({ dayMs, event }) => [dayMs, event.height])).toEqual([
      [DAY - 86_400_000, 250],
      [DAY, 400],
    ])
  })

  it.each([
    ['missing blocks', { missing: (at: number) => at >= 420 && at < 450 }, 420, 502],
    ['unknown changes', { unknown: (at: number) => at === 430 }, 430, 501],
    ['a new epoch', { epochs: [440] }, 440, 501],
  ])('reports %s as a gap, and continues after the next checkpoint', async (_, more, lostAt, nextAt) => {
    const all = await tapeOf({ ...PLAN, ...more }, RANGE)
    for (const coin of COINS) {
      const own = all.events.filter((one) => one.coin === coin).map(({ event }) => event)
      const gaps = own.filter(({ kind }) => kind === 'gap')
      expect(gaps).toEqual([{ kind: 'gap', height: lostAt, timeMs: DAY + (lostAt - 401) * 2_000 }])
      const known = check(coin, all)
      expect(known.filter((height) => height >= lostAt && height < nextAt - 1)).toEqual([])
      expect(known).toContain(own.find(({ kind, height }) => kind === 'snapshot' && height > lostAt)!.height)
    }
  })

  it('reports a repair of one book as a gap of that book alone', async () => {
    const all = await tapeOf({ ...PLAN, repaired: (at) => at === 430 }, RANGE)
    const gapsOf = (coin: string) => all.events.filter((one) => one.coin === coin && one.event.kind === 'gap')
    expect(gapsOf('BTC').map(({ event }) => event.height)).toEqual([430])
    expect(gapsOf('xyz:GOLD')).toEqual([])
    for (const coin of COINS) check(coin, all)
    expect(check('xyz:GOLD', all).filter((height) => height > 430 && height < 500).length).toBeGreaterThan(20)
  })

  it('starts with a gap if no checkpoint precedes the range, and ends with it if none follows', async () => {
    const late = await tapeOf({ ...PLAN, checkpoints: (at) => at === 500 }, RANGE)
    const [first, ...rest] = late.events.filter(({ coin }) => coin === 'BTC').map(({ event }) => event)
    expect(first).toEqual({ kind: 'gap', height: 400, timeMs: DAY })
    expect(rest.find(({ kind }) => kind !== 'trade')).toMatchObject({ kind: 'snapshot', height: 501 })
    check('BTC', late)
    const none = await tapeOf({ ...PLAN, checkpoints: () => false }, RANGE)
    expect(none.events.filter(({ event }) => event.kind !== 'trade').map(({ event }) => event.kind)).toEqual([
      'gap',
      'gap',
    ])
  })

  it('reads no checkpoint that it does not need', async () => {
    const reads: number[] = []
    await tapeOf({ ...PLAN, unknown: (at) => at === 430 }, RANGE, reads)
    expect(reads).toEqual([400, 500])
  })

  it('is exact or reports a gap, whatever is missing', async () => {
    const plan = fc.record({
      seed: fc.integer({ min: 1, max: 1_000 }),
      lost: fc.array(fc.integer({ min: 101, max: 220 }), { maxLength: 4 }),
      unknown: fc.array(fc.integer({ min: 101, max: 220 }), { maxLength: 3 }),
      epochs: fc.array(fc.integer({ min: 101, max: 220 }), { maxLength: 2 }),
      every: fc.integer({ min: 5, max: 60 }),
      from: fc.integer({ min: 0, max: 100 }),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ seed, lost, unknown, epochs, every, from }) => {
        const all = await tapeOf(
          {
            startMs: DAY - 180_000,
            blocks: 120,
            stepMs: 3_000,
            seed,
            epochs,
            missing: (at) => lost.includes(at),
            unknown: (at) => unknown.includes(at),
            checkpoints: (at) => at % every === 0,
          },
          { fromMs: DAY - 180_000 + 3_000 * from, toMs: DAY + 180_000 },
        )
        for (const coin of COINS) check(coin, all)
      }),
      { numRuns: 60 },
    )
  })
})
