// Completed trades over log and files equal those of the plain list, page by page; trades with unknown opening or
// funding are not reported.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterGap, emptyTradeState, foldTrades } from '../../../src/archive/completed-trades.ts'
import type { FilesRequest } from '../../../src/archive/files/files-read.ts'
import type { CompletedTrade } from '../../../src/archive/open-trade.ts'
import { cursorTime, filterTrades } from '../../../src/archive/trade-page.ts'
import { lastTrades, tradesFrom, tradesUpTo } from '../../../src/info/sources/own-trades.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { paidTrading, USER } from '../../archive/trading.ts'
import { fillWith } from '../../kit/fills.ts'
import { type Gap, type Kept, pastOfKept } from '../stored-blocks.ts'

/** Trades of all blocks except `missing`, without positions across gaps. */
function plain(blocks: readonly EventBlock[], missing: readonly Gap[] = []): readonly CompletedTrade[] {
  let state = emptyTradeState(USER)
  let last = -1
  return blocks
    .filter(({ height }) => !missing.some(({ from, to }) => from <= height && height <= to))
    .flatMap((block) => {
      const isOver = missing.some(({ from, to }) => from <= to && last < from && to < block.height)
      last = block.height
      const folded = foldTrades(isOver ? afterGap(state) : state, [block])
      state = folded.state
      return folded.trades
    })
}
const keptOf = (blocks: readonly EventBlock[], more: Partial<Kept> = {}): Kept => {
  const { height, time } = blocks.at(-1) ?? { height: 1, time: 0 }
  return { blocks, head: { height, time }, logFrom: height + 1, filesTo: height, ...more }
}
const from = (kept: Kept) => ({ events: pastOfKept(() => kept) })
async function page(kept: Kept, cursor: string, limit: number): Promise<readonly CompletedTrade[]> {
  const filter = { cursor, startTime: cursorTime(cursor) }
  const own = await tradesFrom({ user: USER, filter, limit }, from(kept))
  if (!own.ok) throw new Error(JSON.stringify(own.error))
  return filterTrades(own.value.trades, filter).slice(0, limit)
}

it('page through all trades with their funding once, wherever the log and the files meet', async () => {
  const gap = fc.record({ from: fc.nat(130), length: fc.nat(6) })
  const gaps = fc.array(gap, { maxLength: 2 })
  const cut = fc.record({ back: fc.nat(60), late: fc.integer({ min: -3, max: 9 }), gaps, unfunded: gaps })
  await fc.assert(
    fc.asyncProperty(
      paidTrading,
      cut,
      fc.integer({ min: 1, max: 4 }),
      async (blocks, { back, late, ...lacks }, limit) => {
        const head = blocks.at(-1)?.height ?? 1
        const logFrom = Math.max(2, head - back)
        const filesTo = Math.max(1, Math.min(head, logFrom - 1 + late))
        // Gaps in the files do not affect blocks in the log.
        const upTo = Math.min(filesTo, logFrom - 1)
        const placed = (some: typeof lacks.gaps, most: number) =>
          some
            .map(({ from, length }) => ({ from: 90 + from, to: Math.min(90 + from + length, most) }))
            .filter(({ from, to }) => from <= to)
        const kept = keptOf(blocks, {
          logFrom,
          filesTo,
          filesFrom: Math.min(90, filesTo),
          gaps: placed(lacks.gaps, filesTo),
          unfunded: placed(lacks.unfunded, filesTo),
        })
        const between = { from: upTo + 1, to: logFrom - 1 }
        const missing = [...placed(lacks.gaps, upTo), ...placed(lacks.unfunded, upTo), between]
        const seen: CompletedTrade[] = []
        for (let cursor = '0_0'; ; ) {
          const rows = await page(kept, cursor, limit)
          seen.push(...rows)
          if (rows.length < limit) break
          cursor = `${rows.at(-1)!.close_time}_${rows.at(-1)!.tx_index}`
        }
        expect(seen).toEqual(plain(blocks, missing))
        const last = await lastTrades({ user: USER, filter: {}, limit }, from(kept))
        expect(last.ok && last.value.trades.slice(-limit)).toEqual(plain(blocks, missing).slice(-limit))
      },
    ),
    { numRuns: 600 },
  )
})

const fill = (more: object): UserFill => [USER, fillWith({ px: '10.0', fee: '0.0', hash: '0x', ...more })]
const CLOSE = { side: 'A', startPosition: '1.0' }
/** Opens a position in BTC, makes this many round trips in ETH and closes it. */
function around(trips: number): EventBlock[] {
  const coins = Array.from({ length: trips }, () => [fill({ coin: 'ETH' }), fill({ coin: 'ETH', ...CLOSE })])
  return [[fill({})], ...coins, [fill(CLOSE)]].map((fills, i) => ({
    height: i + 1,
    time: 1_000 + i,
    funding: [],
    fills: fills.map(([user, one]): UserFill => [user, { ...one, time: 1_000 + i }]),
  }))
}
const FUNDING = [{ coin: 'BTC', perUnit: '0.5' }]

describe('a position opened long before', () => {
  it('is searched back to the read limit', async () => {
    const blocks = around(3_000)
    const own = await lastTrades({ user: USER, filter: {}, limit: 1 }, from(keptOf(blocks)))
    expect(own.ok && own.value.trades.at(-1)).toMatchObject({ coin: 'BTC', open_time: 1_000 })
    const closed = blocks.at(-1)!.time
    expect(await page(keptOf(blocks), `${closed}_0`, 9)).toEqual([])
    expect(await page(keptOf(blocks), `${closed - 1}_0`, 9)).toMatchObject([{ coin: 'BTC', open_time: 1_000 }])
  })

  it('is not reported beyond the limit, and the result reports how far it went', async () => {
    const blocks = around(6_000)
    const own = await lastTrades({ user: USER, filter: {}, limit: 1 }, from(keptOf(blocks)))
    expect(own.ok && own.value.trades.at(-1)).toMatchObject({ coin: 'ETH' })
    expect(own.ok && own.value.read.since).toEqual({ height: 1_002, time: 2_001 })
    expect(await page(keptOf(blocks), `${blocks.at(-1)!.time - 1}_0`, 9)).toEqual([])
  })

  it('is not reported across a gap', async () => {
    const blocks = around(5)
    const own = await lastTrades(
      { user: USER, filter: {}, limit: 9 },
      from(keptOf(blocks, { gaps: [{ from: 4, to: 4 }] })),
    )
    expect(own.ok && own.value.trades.map(({ coin }) => coin)).toEqual(['ETH', 'ETH', 'ETH', 'ETH'])
    expect(own.ok && own.value.read.since.height).toBe(5)
  })
})

describe('funding', () => {
  const blocks = around(3).map((block) => (block.height === 3 ? { ...block, funding: FUNDING } : block))

  it('from files is assigned to the right trades', async () => {
    const own = await tradesUpTo({ user: USER, toMs: 9_999 }, from(keptOf(blocks)))
    expect(own.ok && own.value.trades.at(-1)).toMatchObject({ coin: 'BTC', funding_pnl: '-0.5', net_pnl: '-0.5' })
  })

  it('missing from the files limits trades to the log', async () => {
    const unfunded = [{ from: 1, to: 9 }]
    const own = await tradesUpTo({ user: USER, toMs: 9_999 }, from(keptOf(blocks, { unfunded, logFrom: 3 })))
    expect(own.ok && own.value.trades.map(({ coin }) => coin)).toEqual(['ETH', 'ETH'])
    expect(own.ok && own.value.read.since).toEqual({ height: 3, time: 1_002 })
  })

  it('known only after a height limits trades to later trades', async () => {
    const asked: FilesRequest[] = []
    const kept = keptOf(blocks, { unfunded: [{ from: 1, to: 2 }], logFrom: 5 })
    const own = await tradesUpTo({ user: USER, toMs: 9_999 }, { events: pastOfKept(() => kept, asked) })
    expect(own.ok && own.value.trades.map(({ coin }) => coin)).toEqual(['ETH', 'ETH'])
    expect(own.ok && own.value.read.since).toEqual({ height: 3, time: 1_002 })
    expect(asked.map((request) => request.from)).toEqual([3])
  })
})

describe('a page', () => {
  const ask = (blocks: readonly EventBlock[], more: object = {}, kept: Partial<Kept> = {}) =>
    tradesFrom({ user: USER, filter: { startTime: 0, ...more }, limit: 9 }, from(keptOf(blocks, kept)))

  it('of a window that is too long is rejected, but its beginning is not', async () => {
    const blocks = around(15_000)
    const other = { dex: 'xyz' }
    expect(await ask(blocks, other)).toMatchObject({
      ok: false,
      error: { kind: 'bad_field', issues: [{ path: 'endTime' }] },
    })
    expect(await ask(blocks, { ...other, endTime: 5_000 })).toMatchObject({ ok: true })
    expect(await ask(blocks)).toMatchObject({ ok: true })
  })

  it('across damage is rejected, but an earlier page is not', async () => {
    const blocks = around(5_000)
    expect(await ask(blocks, { dex: 'xyz' }, { damaged: 2_500 })).toMatchObject({
      ok: false,
      error: { kind: 'unavailable' },
    })
    expect(await ask(blocks, { dex: 'xyz', endTime: 1_900 }, { damaged: 2_500 })).toMatchObject({ ok: true })
  })
})
