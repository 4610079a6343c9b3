// What answers show of completed trades and of a builder's fills, and the sums over a wallet's trading.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyTradeState, foldTrades } from '../../src/archive/completed-trades.ts'
import { pnlSummary } from '../../src/archive/pnl-summary.ts'
import { filterTrades } from '../../src/archive/trade-page.ts'
import { MAIN_DEX } from '../../src/core/coin.ts'
import { builderPage } from '../../src/info/sources/builder-rows.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { BUILDER, FIRST_MS, trading, USER, units } from './trading.ts'

const DAY_MS = 86_400_000
const closedOf = (blocks: Parameters<typeof foldTrades>[1]) => {
  const { trades, omitted } = foldTrades(emptyTradeState(USER), blocks)
  return { trades, omitted }
}
const tradesOf = (blocks: Parameters<typeof foldTrades>[1]) => closedOf(blocks).trades

describe('completed trades', () => {
  it('are all on the pages of a cursor, each once, whatever the filter', () => {
    const filter = fc.record(
      { dex: fc.constantFrom(MAIN_DEX, 'xyz'), builder: fc.constant(BUILDER) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(trading, fc.integer({ min: 1, max: 4 }), filter, (blocks, limit, wanted) => {
        const trades = tradesOf(blocks)
        const seen = []
        for (let cursor: string | undefined; ; ) {
          const page = filterTrades(trades, { ...wanted, cursor }).slice(0, limit)
          seen.push(...page)
          if (page.length < limit) break
          cursor = `${page.at(-1)!.close_time}_${page.at(-1)!.tx_index}`
        }
        expect(seen).toEqual(
          trades.filter(
            ({ coin, builder }) =>
              (wanted.dex === undefined || coin.startsWith('xyz:') === (wanted.dex === 'xyz')) &&
              (wanted.builder === undefined || builder === BUILDER),
          ),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('include both ends of a window', () => {
    fc.assert(
      fc.property(trading, fc.nat(60), fc.nat(60), (blocks, a, b) => {
        const trades = tradesOf(blocks)
        const startTime = FIRST_MS + a * 70
        const endTime = FIRST_MS + b * 70
        expect(filterTrades(trades, { startTime, endTime })).toEqual(
          trades.filter(({ close_time: at }) => startTime <= at && at <= endTime),
        )
      }),
    )
  })
})

describe('the summary', () => {
  const known = (blocks: Parameters<typeof foldTrades>[1], nowMs = FIRST_MS) => ({
    user: USER,
    ...closedOf(blocks),
    fills: blocks.flatMap(({ fills }) => fills.map(([, fill]) => fill)),
    nowMs,
  })

  it('of a wallet without activity is zeros', () => {
    expect(pnlSummary(known([]), {})).toEqual({
      user: USER,
      totalPnl: '0',
      winRate: 0,
      lossRate: 0,
      totalTrades: 0,
      omittedTrades: 0,
      volumeTraded: '0',
      totalFees: '0',
      totalFunding: '0',
      daysActive: 0,
      accountAgeDays: 0,
      tradedPairs: [],
    })
  })

  it('is consistent: profits and fees are those of trades, volume is that of fills, and rates add up to one', () => {
    fc.assert(
      fc.property(trading, (blocks) => {
        const all = known(blocks)
        const summary = pnlSummary(all, {})
        const total = (of: 'net_pnl' | 'fees' | 'funding_pnl') =>
          all.trades.reduce((sum, trade) => sum + units(trade[of], 10), 0n)
        expect(units(summary.totalPnl, 10)).toBe(total('net_pnl'))
        expect(units(summary.totalFees, 10)).toBe(total('fees'))
        expect(units(summary.totalFunding, 10)).toBe(total('funding_pnl'))
        const volume = all.fills.reduce((sum, { px, sz }) => sum + units(px, 2) * units(sz, 2), 0n)
        expect(units(summary.volumeTraded, 4)).toBe(volume)
        expect(summary.totalTrades).toBe(all.trades.length)
        const rates = Math.round((summary.winRate + summary.lossRate) * 10_000)
        expect(rates).toBe(all.trades.length === 0 ? 0 : 10_000)
        const wins = all.trades.filter(({ net_pnl }) => units(net_pnl, 10) > 0n).length
        expect(Math.abs(summary.winRate * all.trades.length - wins)).toBeLessThan(0.01)
        const parts = [MAIN_DEX, 'xyz'].map((dex) => pnlSummary(all, { dex }))
        expect(parts.reduce((sum, { totalTrades }) => sum + totalTrades, 0)).toBe(summary.totalTrades)
        for (const part of parts) expect(part.volumeTraded).toBe(summary.volumeTraded)
        expect(parts.flatMap(({ tradedPairs }) => tradedPairs).sort()).toEqual(summary.tradedPairs)
      }),
      { numRuns: 300 },
    )
  })

  const fill = (coin: string, time: number): Fill =>
    ({ coin, time, px: '10.0', sz: '0.5', side: 'B', startPosition: '0.0' }) as unknown as Fill

  it('counts days in UTC within the window, but age and coins over all data', () => {
    const day = DAY_MS * 20_000
    const fills = [fill('BTC', day - 1), fill('xyz:GOLD', day), fill('@107', day + 5), fill('BTC', day + 2 * DAY_MS)]
    const all = { user: USER, trades: [], omitted: [], fills, nowMs: day + 2 * DAY_MS }
    expect(pnlSummary(all, {})).toMatchObject({ daysActive: 3, accountAgeDays: 2, volumeTraded: '20' })
    const scope = { startTime: day, endTime: day + DAY_MS, dex: MAIN_DEX }
    const shown = { daysActive: 1, accountAgeDays: 2, volumeTraded: '10', tradedPairs: ['BTC'] }
    expect(pnlSummary(all, scope)).toMatchObject(shown)
    expect(pnlSummary(all, { dex: 'xyz' }).tradedPairs).toEqual(['xyz:GOLD'])
    expect(pnlSummary(all, {}).tradedPairs).toEqual(['@107', 'BTC', 'xyz:GOLD'])
  })
})

describe('fills of a builder', () => {
  it('of a block larger than a page are cut at the older end', () => {
    const block = Array.from({ length: 5 }, (_, tid): UserFill => [USER, { tid, time: 7 } as unknown as Fill])
    expect(builderPage([block], 3).map(({ tid }) => tid)).toEqual([4, 3, 2])
  })

  it('have their wallet first, and no fields that only the node sends', () => {
    const own = { builder: BUILDER, builderFee: '0.1', deployerFee: '0.2', twapId: null, more: 1 }
    const fill = { coin: 'BTC', time: 1, ...own }
    const [shown] = builderPage([[[USER, fill as unknown as Fill]]], 1)
    expect(Object.entries(shown!)).toEqual([
      ['user', USER],
      ['coin', 'BTC'],
      ['time', 1],
      ['builderFee', '0.1'],
      ['more', 1],
    ])
  })
})
