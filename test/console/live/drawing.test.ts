// What the live page shows, from received data to formatted text.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  candlesOfTrades,
  foldedCandle,
  highAndLow,
  mergeCandles,
  pageBefore,
  parseCandle,
} from '../../../src/console/live/candles.ts'
import {
  ageText,
  changeText,
  clockText,
  compactText,
  dateTimeInputText,
  differenceText,
  fixedText,
  fundingText,
  parseDateTimeInput,
  priceText,
} from '../../../src/console/live/formats.ts'
import { depthChart, groupedRows, priceSteps, spreadOf, stepDecimals } from '../../../src/console/live/grouped-book.ts'
import { healthOf } from '../../../src/console/live/health.ts'
import {
  filterMarkets,
  mergeListing,
  namedMarkets,
  perpMarkets,
  spotMarkets,
  withContext,
  withMids,
} from '../../../src/console/live/markets.ts'
import { clockWarning, FrameScheduler, ServerClock } from '../../../src/console/live/page-time.ts'
import { addActivity, addTrades } from '../../../src/console/live/recent.ts'
import { INTERVAL_MS } from '../../../src/core/candle-interval.ts'

const level = (px: string, sz: string) => ({ px, sz })

describe('a grouped book', () => {
  it('rounds bids down and asks up, with cumulative sizes', () => {
    const bids = [level('100.9', '1'), level('100.1', '2'), level('99.9', '4'), level('98', '8')]
    expect(groupedRows(bids, 'bid', 1, 10)).toEqual([
      { px: 100, sz: 3, total: 3 },
      { px: 99, sz: 4, total: 7 },
      { px: 98, sz: 8, total: 15 },
    ])
    const asks = [level('101', '1'), level('101.1', '2'), level('102', '4')]
    expect(groupedRows(asks, 'ask', 1, 2)).toEqual([
      { px: 101, sz: 1, total: 1 },
      { px: 102, sz: 6, total: 7 },
    ])
  })

  it('shows each level separately without a step, and no more rows than requested', () => {
    const bids = Array.from({ length: 50 }, (_, at) => level(String(100 - at), '1'))
    expect(groupedRows(bids, 'bid', 0, 3).map(({ px }) => px)).toEqual([100, 99, 98])
  })

  it('keeps prices that are on a step, despite float division', () => {
    for (const px of ['0.29', '0.57', '1.15', '4.35', '0.000003'])
      for (const side of ['bid', 'ask'] as const)
        expect(groupedRows([level(px, '1')], side, Number(px) / 1, 1)[0]!.px).toBeCloseTo(Number(px), 12)
    expect(groupedRows([level('0.3', '1')], 'bid', 0.1, 1)[0]!.px).toBe(0.3)
    expect(groupedRows([level('0.7', '1')], 'ask', 0.1, 1)[0]!.px).toBe(0.7)
  })

  it('loses no size and never crosses, for any book and step', () => {
    const prices = fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 60 })
    fc.assert(
      fc.property(prices, fc.nat(), fc.integer({ min: 0, max: 7 }), (ticks, cut, at) => {
        const sorted = ticks.toSorted((a, b) => a - b)
        const middle = 1 + (cut % (sorted.length - 1))
        const low = sorted.slice(0, middle).reverse()
        const high = sorted.slice(middle)
        const levels = (side: number[]) => side.map((tick) => level(String(tick / 100), '2'))
        const step = priceSteps(sorted[middle]! / 100)[at]!
        const bids = groupedRows(levels(low), 'bid', step, 1_000)
        const asks = groupedRows(levels(high), 'ask', step, 1_000)
        expect(bids.reduce((sum, { sz }) => sum + sz, 0)).toBe(low.length * 2)
        expect(asks.at(-1)!.total).toBe(high.length * 2)
        expect(bids[0]!.px).toBeLessThan(asks[0]!.px)
        expect(bids.map(({ px }) => px)).toEqual(bids.map(({ px }) => px).toSorted((a, b) => b - a))
      }),
    )
  })

  it('offers steps from the fifth significant figure of the price', () => {
    expect(priceSteps(81_300).slice(0, 4)).toEqual([1, 2, 5, 10])
    expect(priceSteps(0.0116).slice(0, 2)).toEqual([0.000001, 0.000002])
    expect([0, -1, Number.NaN].map(priceSteps)).toEqual([[], [], []])
    expect([1, 0.1, 0.5, 0.000001, 100].map(stepDecimals)).toEqual([0, 1, 1, 6, 0])
  })

  it('has no spread without two sides', () => {
    expect(spreadOf(level('99', '1'), level('101', '1'))).toEqual({ size: 2, middle: 100, basisPoints: 200 })
    expect(spreadOf(undefined, level('101', '1'))).toBeNull()
  })
})

describe('a depth chart', () => {
  const space = { width: 100, height: 50, share: 0.1 }

  it('draws both sides on one scale, within a distance of the mid price', () => {
    const bids = [level('99', '1'), level('95', '3'), level('50', '100')]
    const asks = [level('101', '2'), level('105', '6')]
    expect(depthChart(bids, asks, space)).toEqual({
      low: 90,
      high: 110.00000000000001,
      maxTotal: 8,
      bids: 'M45 50H45V43.8H25V25H0V50Z',
      asks: 'M55 50H55V37.5H75V0H100V50Z',
    })
  })

  it('draws at most one step per pixel, and needs both sides', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => level(String(100 - at / 2_000), '1'))
    const chart = depthChart(many, [level('100.1', '1')], space)!
    expect(chart.bids.split('V').length).toBeLessThan(space.width + 5)
    expect(chart.maxTotal).toBe(many.filter(({ px }) => Number(px) >= chart.low).length)
    expect(depthChart([], [level('1', '1')], space)).toBeNull()
  })
})

describe('candles', () => {
  const wire = (t: number, c: string) => ({ t, o: '1', h: '2', l: '0.5', c, v: '3' })
  const read = (...args: Parameters<typeof wire>) => parseCandle(wire(...args))!

  it('are unique per time, oldest first, with the latest update', () => {
    const stored = [read(2, '1'), read(3, '1')]
    expect(mergeCandles(stored, [read(3, '9'), read(1, '5')]).map(({ time, close }) => [time, close])).toEqual([
      [1, 5],
      [2, 1],
      [3, 9],
    ])
    expect(parseCandle(wire(1, 'x'))).toBeNull()
  })

  it('are requested page by page, each before the oldest stored one', () => {
    const now = 1_790_000_000_000
    const newest = pageBefore([], '1m', now)
    expect(newest).toEqual({ startTime: now - 500 * INTERVAL_MS['1m'], endTime: now })
    expect(pageBefore([read(newest.startTime, '1')], '1m', now).endTime).toBe(newest.startTime - 1)
    expect(pageBefore([read(5, '1')], '1M', now)).toEqual({ startTime: 0, endTime: 4 })
  })
})

describe('candles of a replay', () => {
  const minute = (of: number) => 1_790_000_040_000 + of * 60_000
  const trade = (timeMs: number, px: string, sz = '1') => ({ time: timeMs, px, sz })

  it('continue the last candle with its trades, and begin new ones', () => {
    const last = { time: minute(0), open: 5, high: 6, low: 4, close: 5, volume: 10 }
    const trades = [
      trade(minute(0) + 1, '7'),
      trade(minute(0) + 2, '3', '2'),
      trade(minute(2) + 5, '4'),
      trade(minute(2) + 6, '8'),
    ]
    expect(candlesOfTrades(last, trades, '1m')).toEqual([
      { time: minute(0), open: 5, high: 7, low: 3, close: 3, volume: 13 },
      { time: minute(2), open: 4, high: 8, low: 4, close: 8, volume: 2 },
    ])
    expect(candlesOfTrades(undefined, trades, '1m')[0]).toMatchObject({ open: 7, volume: 3 })
    expect(candlesOfTrades(last, [trade(minute(-1), '1')], '1m')).toEqual([])
    expect(candlesOfTrades(undefined, [], '1m')).toEqual([])
  })

  it('have the same sum for any grouping into frames', () => {
    const steps = fc.array(fc.tuple(fc.nat(50_000), fc.integer({ min: 1, max: 99 })), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(steps, fc.nat(39), (drawn, cut) => {
        const waits = (count: number) => drawn.slice(0, count).reduce((sum, [wait]) => sum + wait, 0)
        const trades = drawn.map(([, px], i) => trade(minute(0) + waits(i + 1), String(px)))
        const whole = candlesOfTrades(undefined, trades, '1m')
        const first = candlesOfTrades(undefined, trades.slice(0, cut), '1m')
        const rest = candlesOfTrades(first.at(-1), trades.slice(cut), '1m')
        expect(mergeCandles(first, rest)).toEqual(whole)
      }),
    )
  })

  it('begin with the minutes before the replay', () => {
    const parts = [1, 2, 3].map((px) => ({
      time: minute(px),
      open: px,
      high: px + 1,
      low: px - 1,
      close: px,
      volume: 1,
    }))
    expect(foldedCandle(minute(0), parts)).toEqual({ time: minute(0), open: 1, high: 4, low: 0, close: 3, volume: 3 })
    expect(foldedCandle(minute(0), [])).toBeNull()
    expect(highAndLow(parts)).toEqual({ high: 4, low: 0 })
  })
})

describe('the health of the page', () => {
  it('is good only while connected with a book in step, or during a replay', () => {
    expect(healthOf('open', 'in step', null)).toMatchObject({ text: 'In sync', kind: 'good' })
    for (const state of ['connecting', 'waiting', 'fatal', 'closed'] as const)
      expect(healthOf(state, 'in step', null).kind, state).not.toBe('good')
    for (const [book, text] of [
      ['syncing', 'Syncing'],
      ['out of step', 'Resyncing'],
      ['gone', 'Not found'],
      [null, 'Connected'],
    ] as const)
      expect(healthOf('open', book, null)).toMatchObject({ text, kind: book === 'gone' ? 'bad' : 'wait' })
    expect(healthOf('open', 'gone', 'playing')).toMatchObject({ text: 'Replay: playing', kind: 'wait' })
  })
})

describe('trades', () => {
  const trade = (tid: number, time: number) => ({ px: '1', sz: '2', side: tid % 2 ? 'B' : 'A', time, tid })

  it('are newest first, unique and bounded', () => {
    const first = addTrades([], [trade(1, 10), trade(2, 10), trade(3, 11)])
    expect(first.map(({ id }) => id)).toEqual(['3 11', '2 10', '1 10'])
    expect(addTrades(first, [trade(3, 11), trade(4, 12)]).map(({ id }) => id)[0]).toBe('4 12')
    expect(addTrades(first, [trade(3, 11)])).toHaveLength(3)
    const many = Array.from({ length: 500 }, (_, at) => trade(at, at))
    expect(addTrades([], many)).toHaveLength(60)
    expect(addTrades([], many)[0]).toMatchObject({ time: 499, isBuy: true })
  })
})

describe('the list of markets', () => {
  const perps = [
    { universe: [{ name: 'BTC' }, { name: 'OLD', isDelisted: true }, { name: '__proto__' }] },
    [
      { midPx: '100', markPx: '99', prevDayPx: '50', dayNtlVlm: '7' },
      {},
      { midPx: null, markPx: '3', prevDayPx: 'x', dayNtlVlm: '9' },
    ],
  ] as const

  it('lists each coin once, without delisted ones', () => {
    expect(perpMarkets(perps)).toMatchObject([
      { coin: 'BTC', price: 100, dayAgoPrice: 50, volume: 7 },
      { coin: '__proto__', price: 3, dayAgoPrice: Number.NaN, volume: 9 },
    ])
    const tokens = [
      { name: 'USDC', index: 0 },
      { name: 'PURR', index: 1 },
    ]
    const spot = [{ universe: [{ name: '@1', tokens: [1, 0] }], tokens }, [{ coin: '@1', midPx: '2' }]] as const
    expect(spotMarkets(spot)).toMatchObject([{ coin: '@1', name: 'PURR/USDC', price: 2 }])
  })

  // Field test T6
  it('finds tokens by index and prices by coin, however sparse or unordered they are', () => {
    const tokens = [
      { name: 'USDC', index: 0 },
      { name: 'PURR', index: 3 },
      { name: 'LATE', index: 479 },
    ]
    const universe = [
      { name: '@300', tokens: [301, 0] },
      { name: 'PURR/USDC', tokens: [3, 0] },
      { name: '@367', tokens: [479, 0] },
    ]
    const contexts = ['#40', '@367', 'PURR/USDC', '@300'].map((coin, at) => ({ coin, midPx: `${at + 1}` }))
    expect(spotMarkets([{ universe, tokens }, contexts]).map(({ name, price }) => [name, price])).toEqual([
      ['?/USDC', 4],
      ['PURR/USDC', 3],
      ['LATE/USDC', 2],
    ])
  })

  it('applies newer mid prices with the time of the change', () => {
    const listed = perpMarkets(perps)
    const moved = withMids(listed, { BTC: '101', NOPE: '1' }, 1_000)
    expect(moved[0]).toMatchObject({ price: 101, changedMs: 1_000 })
    expect(moved[1]).toBe(listed[1])
    expect(withMids(moved, { BTC: '101' }, 2_000)).toBe(moved)
    expect(withMids(listed, { BTC: 'NaN' }, 1)).toBe(listed)
    expect(mergeListing(moved, listed)[0]).toMatchObject({ price: 101, changedMs: 1_000 })
    const [one] = withContext(namedMarkets(['BTC']), 'BTC', { midPx: '5', prevDayPx: '4', dayNtlVlm: '6' }, 7)
    expect(one).toMatchObject({ price: 5, dayAgoPrice: 4, volume: 6, changedMs: 7 })
  })

  it('filters by text and sorts by volume', () => {
    const listed = perpMarkets(perps)
    expect(filterMarkets(listed, '', 9).map(({ coin }) => coin)).toEqual(['__proto__', 'BTC'])
    expect(filterMarkets(listed, ' btc ', 9).map(({ coin }) => coin)).toEqual(['BTC'])
    expect(filterMarkets(listed, '', 1)).toHaveLength(1)
  })
})

describe('the gateway’s time', () => {
  it('is independent of the clock of the device', () => {
    const hour = 3_600_000
    const clock = new ServerClock()
    expect(clock.now(5)).toBeNaN()
    clock.sync(1_000_000, hour, hour + 20)
    expect(clock.now(hour + 10)).toBe(1_000_000)
    clock.sync(2_000_000, hour, hour + 500)
    expect(clock.now(hour + 10)).toBe(1_000_000)
    clock.observeBlock(1_000_005, hour + 10)
    expect(clock.now(hour + 10)).toBe(1_000_005)
    expect(clockWarning(0, hour)).toContain('1.0 h fast')
    // A reading is off by the asymmetry of its round trip.
    expect(clockWarning(0, hour - 1)).toContain('1.0 h fast')
    expect(clockWarning(120_000, 0)).toContain('2 min slow')
    expect([clockWarning(0, 10_000), clockWarning(Number.NaN, 5)]).toEqual([null, null])
  })
})

describe('formats', () => {
  it('are short and never NaN', () => {
    const shown = (of: (value: number) => string, ...values: number[]) => values.map(of).join(' | ')
    const { NaN: none, POSITIVE_INFINITY: endless } = Number
    expect(shown((value) => fixedText(value, 2), 1234567.891, -0.5, 0, -0.001, none)).toBe(
      '1,234,567.89 | −0.50 | 0.00 | 0.00 | –',
    )
    expect(shown(priceText, 81_300, 3_150.84, 0.0116761, 0, endless)).toBe('81,300 | 3,150.8 | 0.011676 | 0.00 | –')
    expect(shown(compactText, 0, 5, 0.0446, 1_234, 999_999, 1.5e9, none)).toBe(
      '0 | 5 | 0.0446 | 1.23 k | 1.00 M | 1.50 B | –',
    )
    expect([changeText(110, 100), changeText(90, 100), changeText(1, 0)]).toEqual(['+10.00%', '−10.00%', '–'])
    expect([differenceText(101, 100), differenceText(99.5, 100), differenceText(1, none)]).toEqual([
      '+1.00',
      '−0.500',
      '–',
    ])
    expect([0.0000125, -0.0001, none].map(fundingText)).toEqual(['0.0013%', '−0.0100%', '–'])
    expect(shown(ageText, -5, 250, 1_500, 61_000, 7_300_000, none)).toBe('0 ms | 250 ms | 1.5 s | 1 min | 2 h | –')
    expect(shown(clockText, 0, none, 1e300)).toBe('00:00:00 | – | –')
    const moment = Date.UTC(2026, 10, 25, 12, 30)
    expect([parseDateTimeInput(dateTimeInputText(moment)), parseDateTimeInput('2026-11-25T12:30')]).toEqual([
      moment,
      moment,
    ])
    expect(parseDateTimeInput('soon')).toBeNaN()
  })

  it('list activity newest first, and count repeated entries', () => {
    let list = addActivity([], { atMs: 1, kind: 'bad', text: 'lost' })
    list = addActivity(list, { atMs: 2, kind: 'bad', text: 'lost' })
    list = addActivity(list, { atMs: 3, kind: 'good', text: 'back' })
    expect(list).toEqual([
      { id: 2, atMs: 3, kind: 'good', text: 'back', times: 1 },
      { id: 1, atMs: 2, kind: 'bad', text: 'lost', times: 2 },
    ])
    for (let i = 0; i < 100; i++) list = addActivity(list, { atMs: i, kind: 'wait', text: `${i}` })
    expect(list).toHaveLength(40)
  })
})

it('draws each request once per animation frame', () => {
  const frames: (() => void)[] = []
  const scheduler = new FrameScheduler((run) => frames.push(run))
  let books = 0
  let lists = 0
  const book = scheduler.deferred(() => {
    books++
    if (books === 1) book()
  })
  // Also in a hidden tab, which gets no frames.
  for (let i = 0; i < 10_000; i++) book()
  scheduler.deferred(() => void lists++)()
  expect(frames).toHaveLength(1)
  frames.shift()!()
  expect([books, lists, frames.length]).toEqual([1, 1, 1])
  frames.shift()!()
  expect([books, frames.length]).toEqual([2, 0])
})
