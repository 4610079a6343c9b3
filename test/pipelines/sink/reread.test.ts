// Rows that a repair completes: candles and trades around a gap, in a pipeline whose parts fail at every step.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ArchivedSegment } from '../../../src/archive/archive/archive-read.ts'
import type { Pipeline } from '../../../src/pipelines/pipeline.ts'
import { rereadFold, rereadFrom } from '../../../src/pipelines/sink/reread.ts'
import { selectTopic, type TopicSelection } from '../../../src/pipelines/topics/catalogue.ts'
import type { Row } from '../../../src/pipelines/topics/topic.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import type { RelayEvents } from '../../../src/protocol/feed/log-api.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { FIRST, LAST, ofKind, World } from './world.ts'

const HEAD = LAST + 5
const [ALICE, FILL] = EXAMPLE_FILL
const BOB = `0x${'b2'.repeat(20)}`
const COINS = ['BTC', 'ETH']
const DAY_MS = 86_400_000

function select(topic: Pipeline['topic'], filter: Pipeline['filter'] = null): TopicSelection {
  const chosen = selectTopic({ topic, filter })
  if (!chosen.ok) throw new Error(chosen.error.message)
  return chosen.value
}
const CANDLES = select('candles')
const LONG_CANDLES = select('candles', { type: 'candle', interval: '3m', coin: 'BTC' })
const TRADES = select('completed_trades', { type: 'userFills', addresses: [ALICE, BOB] })

interface Trade {
  readonly coin: number
  readonly px: number
  readonly sz: number
  readonly isBuy: boolean
}
interface Step {
  readonly ms: number
  readonly trades: readonly Trade[]
  readonly funds: boolean
}

const Steps = fc.array(
  fc.record({
    ms: fc.constantFrom(70, 9_000, 20_000, 61_000),
    trades: fc.array(
      fc.record({
        coin: fc.nat(1),
        px: fc.integer({ min: 1, max: 9 }),
        sz: fc.integer({ min: 1, max: 2 }),
        isBuy: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    funds: fc.boolean(),
  }),
  { minLength: HEAD - FIRST + 1, maxLength: HEAD - FIRST + 1 },
)

/** Blocks in which Alice trades with Bob. */
function chainOf(steps: readonly Step[]): Map<number, RelayEvents> {
  const positions = new Map<string, number>()
  let time = 1_800_000_000_000
  let tid = 0
  return new Map(
    steps.map(({ ms, trades, funds }, at) => {
      time += ms
      const fills = trades.flatMap(({ coin: index, px, sz, isBuy }): UserFill[] => {
        const coin = COINS[index] as typeof FILL.coin
        tid++
        return [ALICE, BOB].map((user, side) => {
          const buys = (side === 0) === isBuy
          const start = positions.get(`${user} ${coin}`) ?? 0
          positions.set(`${user} ${coin}`, start + (buys ? sz : -sz))
          const own = { side: buys ? ('B' as const) : ('A' as const), startPosition: `${start}.0`, crossed: side === 0 }
          return [
            user as typeof ALICE,
            { ...FILL, ...own, coin, tid, time, px: `${px}.0`, sz: `${sz}.0`, closedPnl: '0.5' },
          ]
        })
      })
      const funding = funds ? [{ coin: 'BTC' as typeof FILL.coin, perUnit: '0.25' }] : []
      const height = FIRST + at
      return [height, { v: 1, t: 'events', epoch: height < 40 ? 'a' : 'b', height, time, fills, ledger: [], funding }]
    }),
  )
}

/** The rows of a topic whose reader sees these blocks. */
function rowsOf(
  { definition, interest }: TopicSelection,
  blocks: Iterable<RelayEvents>,
  isSeen: (height: number) => boolean,
) {
  const fold = definition.open(interest, null)
  const rows: Row[] = []
  for (const block of blocks) {
    if (isSeen(block.height)) rows.push(...fold.rows(block))
    else fold.onGap?.()
  }
  return rows
}

const heightsOf = ({ from, to }: { from: number; to: number }) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** Gaps in up to two parts, which are repaired in any order. The last one may stay. */
const Parts = fc
  .array(fc.record({ at: fc.nat(3), skipped: fc.nat(2), first: fc.integer({ min: 1, max: 3 }), second: fc.nat(2) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((gaps) => [...new Map(gaps.map((gap) => [gap.at, gap])).values()])
  .chain((gaps) =>
    fc.shuffledSubarray(
      gaps.flatMap(({ at, skipped, first, second }) => {
        const from = FIRST + 7 * at + skipped
        const whole = { from, to: from + first - 1 }
        return second === 0 ? [whole] : [whole, { from: from + first, to: from + first + second - 1 }]
      }),
      { minLength: 1 },
    ),
  )
const Fault = fc.oneof(
  { weight: 20, arbitrary: fc.constant('ok' as const) },
  { weight: 1, arbitrary: fc.constant('fails' as const) },
  { weight: 1, arbitrary: fc.constant('lost answer' as const) },
  { weight: 1, arbitrary: fc.constant('killed' as const) },
)
const bySuffix = (rows: Iterable<Row>) =>
  [...rows].map(({ _repaired, ...row }) => row).sort((a, b) => (a._key < b._key ? -1 : 1))

describe('rows around a repaired gap', () => {
  // PIPE-16, PIPE-33
  it.each([
    ['candles', CANDLES],
    ['longer candles of a coin', LONG_CANDLES],
    ['completed trades', TRADES],
  ] as const)(
    '%s are those of a complete archive, each once, in the order of repairs, despite crashes',
    async (_, topic) => {
      const seen = { kills: 0, repaired: 0, live: 0 }
      await fc.assert(
        fc.asyncProperty(
          Steps,
          Parts,
          fc.array(fc.nat(150), { minLength: 8, maxLength: 8 }),
          fc.integer({ min: FIRST + 5, max: HEAD }),
          fc.constantFrom(FIRST, FIRST + 11),
          fc.boolean(),
          fc.infiniteStream(Fault),
          async (steps, parts, turns, head, start, isOneLost, faults) => {
            const blocks = chainOf(steps)
            const repairs = parts
              .slice(0, isOneLost ? -1 : parts.length)
              .map((part, at) => ({ id: 2 * at + 1, ...part }))
            const missing = parts.flatMap(heightsOf)
            const world = new World({ missing, draw: () => faults.next().value, topic: { ...topic, blocks } })
            Object.assign(world, { end: null, start, head: Math.max(head, start), archivedTo: head - 15 })
            const names = new Map<string, string>()
            const due = turns.toSorted((a, b) => a - b)
            await world.run(6_000, (turn) => {
              const next = repairs[world.repairs.length]
              if (next && turn >= due[world.repairs.length]! && world.archivedTo >= next.to + 7)
                world.repairs.push(next)
              const { repair, repairedTo, confirmed, flight } = world.saved
              const isDone = world.repairs.length === repairs.length && repairedTo === (repairs.at(-1)?.id ?? 0)
              return isDone && repair === null && flight === null && confirmed?.height === HEAD
            })
            const lost = isOneLost ? heightsOf(parts.at(-1)!) : []
            const isSeen = (height: number) => !lost.includes(height)
            const rows = ofKind(world, 'row')
            const read = [...blocks.values()].filter(({ height }) => height >= start)
            expect(bySuffix(rows)).toEqual(bySuffix(rowsOf(topic, read, isSeen)))
            // A row is sent under one name, and the names of repairs follow each other.
            for (const [id, texts] of world.ids)
              for (const { _key, _kind, _repaired } of JSON.parse(`[${texts}]`) as Row[]) {
                expect([_kind, _repaired]).toEqual(id.includes('repair') ? ['row', true] : [_kind, undefined])
                if (_kind === 'row') expect([_key, names.get(_key) ?? id]).toEqual([_key, id])
                if (_kind === 'row') names.set(_key, id)
              }
            const order = [...world.ids.keys()].flatMap((id) => /repair-(\d+)$/.exec(id)?.[1] ?? []).map(Number)
            expect(order).toEqual(order.toSorted((a, b) => a - b))
            seen.kills += world.kills
            seen.repaired += rows.filter(({ _repaired }) => _repaired).length
            seen.live += rows.filter(({ _repaired }) => !_repaired).length
          },
        ),
        { numRuns: 80 },
      )
      expect(seen.kills).toBeGreaterThan(200)
      expect(seen.repaired).toBeGreaterThan(20)
      expect(seen.live).toBeGreaterThan(150)
    },
    60_000,
  )
})

/** Alice buys or sells one BTC at a height whose time is so many hours. */
const fill = (height: number, hours: number, side: 'A' | 'B', start: string): RelayEvents => {
  const time = hours * 3_600_000
  const own: UserFill = [ALICE, { ...FILL, side, startPosition: start, sz: '1.0', closedPnl: '0.5', time }]
  return { v: 1, t: 'events', epoch: 'e', height, time, fills: [own], ledger: [], funding: [] }
}
const empty = (height: number, ms: number): RelayEvents => ({ ...fill(height, 0, 'A', '0.0'), time: ms, fills: [] })
const reread = (
  { definition, interest }: TopicSelection,
  repair: { from: number; to: number },
  state: string | null = null,
) => rereadFold(definition, definition.reread!, interest, repair, state)

describe('reading again', () => {
  it('ends when nothing is left that the repair can complete', () => {
    const fold = reread(CANDLES, { from: 20, to: 21 })
    /** Ten seconds a block. */
    const read = (from: number, to: number) => {
      for (const height of heightsOf({ from, to })) {
        const rows = fold.rows(empty(height, height * 10_000))
        expect(rows).toEqual([])
        if (fold.isDone?.()) return height
      }
      return null
    }
    expect([read(12, 19), read(20, 21), read(22, 100)]).toEqual([null, null, 32])
  })

  it('ends at once if the repaired heights cannot be read', () => {
    const fold = reread(CANDLES, { from: 20, to: 21 })
    fold.rows(empty(19, 19))
    fold.onGap?.()
    fold.rows(empty(22, 22))
    expect(fold.isDone?.()).toBe(true)
  })

  it('of trades ends a day after the repaired heights, even if one stays open', () => {
    const fold = reread(TRADES, { from: 20, to: 21 })
    const rows = (block: RelayEvents) => [fold.rows(block).map(({ _key }) => _key), fold.isDone?.()]
    expect(rows(fill(19, 1, 'B', '0.0'))).toEqual([[], false])
    expect(rows(empty(20, 7_200_000))).toEqual([[], false])
    expect(rows(empty(21, 7_200_001))).toEqual([[], false])
    expect(rows(empty(32, 7_200_001 + DAY_MS))).toEqual([[], false])
    expect(rows(empty(33, 7_200_002 + DAY_MS))).toEqual([[], true])
  })

  it('of trades continues from its state, and ends when the last one closes', () => {
    const first = reread(TRADES, { from: 20, to: 20 })
    for (const block of [fill(19, 1, 'B', '0.0'), empty(20, 3_600_001)]) expect(first.rows(block)).toEqual([])
    const next = reread(TRADES, { from: 20, to: 20 }, first.state!())
    expect([next.rows(empty(32, 3_600_002)), next.isDone?.()]).toEqual([[], false])
    expect(next.rows(fill(47, 2, 'A', '1.0'))).toMatchObject([{ _key: `47:${ALICE}:BTC:0`, fills: 2 }])
    expect([next.rows(empty(48, 7_200_001)), next.isDone?.()]).toEqual([[], true])
  })

  it('begins with the candle before the repaired heights, or a day before them', async () => {
    const segment = (first: number): ArchivedSegment => {
      return { chain: 'c', first, last: first + 9, firstMs: first * 10_000, lastMs: (first + 9) * 10_000, epoch: 'e' }
    }
    const of = (segments: readonly ArchivedSegment[]) => ({
      segmentsFrom: async (at: { height: number } | { timeMs: number }) =>
        segments.filter(({ last, lastMs }) => ('height' in at ? last >= at.height : lastMs >= at.timeMs)).slice(0, 1),
    })
    const from = (segments: readonly ArchivedSegment[], height: number, { definition, interest }: TopicSelection) =>
      rereadFrom(of(segments), height, interest, definition.reread!)
    const all = [0, 10, 20, 30, 40].map(segment)
    // The minute of block 20 begins with block 18.
    expect(await from(all, 30, CANDLES)).toBe(10)
    expect(await from([segment(10), segment(30)], 30, CANDLES)).toBe(30)
    // No segment has the beginning of the minute, so the block before it matters.
    expect(await from([segment(20), segment(30)], 30, CANDLES)).toBe(19)
    expect([await from(all, 40, CANDLES), await from(all, 40, LONG_CANDLES)]).toEqual([30, 10])
    expect(await from(all, 30, TRADES)).toBe(0)
    expect(await from([], 30, TRADES)).toBe(30)
  })
})
