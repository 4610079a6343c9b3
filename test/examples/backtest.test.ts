// What examples/backtest.ts computes, on invented blocks and on half a minute that the simulated exchange made. The
// program is run by test/conformance/archive.test.ts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Big } from 'big.js'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Backtester } from '../../examples/trading/backtester.ts'
import { type Fill, PaperExchange, type Trade } from '../../examples/trading/paper-exchange.ts'
import { FillQuality, ProfitCurve } from '../../examples/trading/performance.ts'
import { ReplayBook } from '../../examples/trading/replay-book.ts'
import { type Level, type Levels, viewOf } from '../../examples/trading/venue.ts'

const level = (px: string, sz: string): Level => ({ px, sz, n: sz === '0' ? 0 : 1 })

describe('PaperExchange', () => {
  const book = (bid = '2', ask = '3') => viewOf([[level('99.0', bid), level('98.0', '5')], [level('101.0', ask)]])
  let fills: Fill[]
  let gone: number[]
  let exchange: PaperExchange

  /** Bid 1 has joined 99 behind a size of 2, and ask 2 has joined 101 behind 3. */
  beforeEach(() => {
    fills = []
    gone = []
    exchange = new PaperExchange(
      { latencyMs: 100, feeBp: 1 },
      (fill) => fills.push(fill),
      (id) => gone.push(id),
    )
    exchange.place({ id: 1, side: 'B', px: '99', sz: '1' })
    exchange.place({ id: 2, side: 'A', px: '101', sz: '1' })
    exchange.book(book(), 100)
  })
  const sell = (time: number, px: string, sz: string) => exchange.trade({ time, px, sz, side: 'A' })

  it('fills an order only after the whole queue ahead of it, and in parts', () => {
    sell(200, '99.0', '1.5')
    sell(210, '99.0', '0.5')
    expect(fills).toEqual([])
    sell(220, '99.0', '0.25')
    expect(fills).toEqual([{ id: 1, side: 'B', px: '99', sz: '0.25', time: 220, waitedMs: 120 }])
    sell(230, '99.0', '5')
    expect([fills.at(-1)?.sz, gone]).toEqual(['0.75', [1]])
  })

  it('fills an order when the price trades through it', () => {
    sell(200, '98.0', '0.1')
    expect([fills, gone]).toMatchObject([[{ id: 1, sz: '1' }], [1]])
  })

  it('advances in the queue when the level gets smaller than what is ahead, and not otherwise', () => {
    exchange.book(book('6'), 150)
    sell(200, '99.0', '1.9')
    expect(fills).toEqual([])
    exchange.book(book('0.05'), 250)
    sell(300, '99.0', '0.06')
    expect(fills).toMatchObject([{ sz: '0.01' }])
  })

  it('does not count a trade that its book already includes', () => {
    exchange.book(book('0.5'), 200)
    sell(200, '99.0', '1.5')
    sell(260, '99.0', '0.5')
    expect(fills).toEqual([])
    sell(270, '99.0', '0.1')
    expect(fills).toHaveLength(1)
  })

  it('fills until a cancel takes effect, and not before an order is in the book', () => {
    exchange.cancel(1)
    exchange.place({ id: 3, side: 'B', px: '100', sz: '1' })
    sell(150, '98.0', '1')
    expect(fills.map(({ id }) => id)).toEqual([1])
    exchange.cancelAll()
    exchange.trade({ time: 260, px: '102', sz: '9', side: 'B' })
    expect(fills).toHaveLength(1)
  })

  it('rejects an order that would take', () => {
    exchange.place({ id: 3, side: 'B', px: '101', sz: '1' })
    exchange.book(book(), 200)
    expect([gone, exchange.counts.rejected]).toEqual([[3], 1])
  })

  it('has exact money', () => {
    sell(200, '98.0', '1')
    exchange.trade({ time: 210, px: '102.0', sz: '1', side: 'B' })
    expect([exchange.position, exchange.cash, exchange.fees].map(String)).toEqual(['0', '1.98', '0.02'])
  })

  it('is a cash account: its profit is what the fills say, for any trades', () => {
    const trade = fc.record({
      side: fc.constantFrom('B' as const, 'A' as const),
      px: fc.integer({ min: 95, max: 105 }).map(String),
      sz: fc.integer({ min: 1, max: 400 }).map((cents) => `${cents / 100}`),
    })
    fc.assert(
      fc.property(fc.array(trade, { maxLength: 40 }), (trades) => {
        const told: Fill[] = []
        const own = new PaperExchange(
          { latencyMs: 0, feeBp: 3 },
          (fill) => told.push(fill),
          () => {},
        )
        trades.forEach(({ side, px, sz }, at) => {
          own.place({ id: at, side: at % 2 === 0 ? 'B' : 'A', px: at % 2 === 0 ? '99' : '101', sz: '1.5' })
          own.book(book(), 10 * at)
          own.trade({ time: 10 * at + 5, side, px, sz })
        })
        const sign = (fill: Fill) => (fill.side === 'B' ? 1 : -1)
        const sum = (of: (fill: Fill) => Big) => told.reduce((all, fill) => all.plus(of(fill)), new Big(0))
        const bought = sum((fill) => new Big(fill.sz).times(sign(fill)))
        const paid = sum((fill) => new Big(fill.sz).times(fill.px).times(new Big(sign(fill)).plus('0.0003')))
        expect([String(own.position), String(own.cash)]).toEqual([String(bought), String(paid.times(-1))])
        for (const id of new Set(told.map((fill) => fill.id))) {
          const whole = told.filter((fill) => fill.id === id).reduce((all, { sz }) => all.plus(sz), new Big(0))
          expect(whole.lte('1.5')).toBe(true)
        }
      }),
    )
  })
})

it('ReplayBook has the levels of a plain map, sorted', () => {
  const change = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.nat(3)), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(fc.tuple(change, change), { maxLength: 20 }), (blocks) => {
      const book = new ReplayBook()
      const plain = [new Map<number, Level>(), new Map<number, Level>()] as const
      blocks.forEach((sides, at) => {
        const levels = sides.map((side) => side.map(([px, sz]) => level(`${px}.0`, `${sz}`))) as unknown as Levels
        if (at % 7 === 6) {
          for (const side of plain) side.clear()
          book.reset(levels)
        } else book.change(levels)
        levels.forEach((side, i) => {
          for (const each of side)
            if (each.n === 0) plain[i]!.delete(Number(each.px))
            else plain[i]!.set(Number(each.px), each)
        })
        const [bids, asks] = plain.map((side) => [...side.keys()])
        expect(Number(book.best('B')?.px ?? -1)).toBe(Math.max(-1, ...bids!))
        expect(Number(book.best('A')?.px ?? 99)).toBe(Math.min(99, ...asks!))
        for (let px = 1; px <= 40; px++)
          expect([book.sizeAt('B', `${px}`), book.sizeAt('A', `${px}`)]).toEqual(
            plain.map((side) => side.get(px)?.sz ?? '0'),
          )
      })
    }),
  )
})

it('measures the move of the mid after five seconds, with the sign of the side', () => {
  const quality = new FillQuality()
  const fill = { id: 1, sz: '1', time: 1_000, waitedMs: 40 }
  quality.add({ ...fill, side: 'B', px: '100' })
  quality.add({ ...fill, side: 'A', px: '100', waitedMs: 60 })
  quality.mid(5_999, 200)
  expect(quality.result).toEqual({ medianWaitMs: 60, moveBp: null })
  quality.add({ ...fill, side: 'A', px: '100', time: 2_000, waitedMs: 50 })
  quality.mid(6_000, 101)
  expect(quality.result).toEqual({ medianWaitMs: 50, moveBp: expect.closeTo(0) })
  quality.mid(7_000, 99)
  expect(quality.result.moveBp).toBeCloseTo(100 / 3)
})

it('measures the drawdown and the profit per minute', () => {
  const curve = new ProfitCurve()
  for (const [minute, profit] of [
    [0, 0],
    [0.5, 3],
    [1, 1],
    [1.5, -2],
    [2, 4],
    [3, 5],
  ] as const)
    curve.add(minute * 60_000, profit)
  // The minutes end at 3, -2 and 4.
  const changes = [3, -5, 6]
  const mean = 4 / 3
  const deviation = Math.sqrt(changes.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 2)
  expect(curve.result).toEqual({
    maxDrawdown: 5,
    minutes: 3,
    meanPerMinute: expect.closeTo(mean),
    perDay: expect.closeTo((mean / deviation) * Math.sqrt(1_440)),
  })
  expect(new ProfitCurve().result).toEqual({ maxDrawdown: 0, minutes: 0, meanPerMinute: null, perDay: null })
})

describe('Backtester', () => {
  type Line = { time: number } & ({ snapshot: Levels } | { change: Levels } | Trade)
  const lines = readFileSync(join(import.meta.dirname, '../fixtures/backtest.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const settings = {
    market: { szDecimals: 5, pxDecimals: 1 },
    halfSpreadBp: 2,
    toleranceBp: 0.5,
    quoteUsd: 100,
    maxPositionUsd: 1_000,
    maxAgeMs: Number.POSITIVE_INFINITY,
  }

  function play(gapAt = -1): Backtester {
    const test = new Backtester(settings, { latencyMs: 300, feeBp: 1.5 })
    lines.forEach((line, at) => {
      if (at === gapAt) test.gap()
      if ('snapshot' in line) test.snapshot(line.snapshot, line.time)
      else if ('change' in line) test.change(line.change, line.time)
      else test.trade(line)
    })
    return test
  }

  it('gives these numbers for the recorded half minute, each time', () => {
    const { exchange, mid, volume, largestPosition, trades, curve, quality } = play()
    const numbers = {
      ...exchange.counts,
      trades,
      profit: exchange.pnl(mid).toFixed(),
      fees: exchange.fees.toFixed(),
      volume: volume.toFixed(),
      position: exchange.position.toFixed(),
      largest: largestPosition.toFixed(),
      drawdown: curve.result.maxDrawdown,
      ...quality.result,
    }
    expect(numbers).toMatchInlineSnapshot(`
      {
        "drawdown": 0.126958764,
        "fees": "0.3590231265",
        "filled": 24,
        "fills": 24,
        "largest": "0.00496",
        "medianWaitMs": 330,
        "moveBp": 0.8866823452816641,
        "placed": 98,
        "position": "-0.00252",
        "profit": "-0.0890531265",
        "rejected": 1,
        "trades": 192,
        "volume": "2393.48751",
      }
    `)
    expect(exchange.fees.toFixed()).toBe(volume.times('0.00015').toFixed())
  })

  it('forgets open orders at a gap, and trades no more until a snapshot', () => {
    const test = play(lines.findIndex(({ time }) => time > lines[0]!.time + 15_000))
    expect(test.gaps).toBe(1)
    expect(test.exchange.counts.fills).toBeLessThan(play().exchange.counts.fills)
  })
})
