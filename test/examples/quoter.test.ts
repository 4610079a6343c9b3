// The rules of examples/maker.ts with injected time. The program is run by test/conformance/examples.test.ts.

import { Big } from 'big.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roundPx, roundSz } from '../../examples/trading/market.ts'
import { Quoter } from '../../examples/trading/quoter.ts'
import { ServerClock } from '../../examples/trading/server-clock.ts'
import { type Order, type Venue, viewOf } from '../../examples/trading/venue.ts'

const MARKET = { szDecimals: 5, pxDecimals: 1 }
const MAX_AGE_MS = 1_000
const SETTINGS = {
  market: MARKET,
  halfSpreadBp: 5,
  toleranceBp: 1,
  quoteUsd: 100,
  maxPositionUsd: 1_000,
  maxAgeMs: MAX_AGE_MS,
}
const NONE = new Big(0)

/** Holds what rests, and every call in order. */
class Recorder implements Venue {
  readonly resting = new Map<number, Order>()
  readonly calls: string[] = []

  place(order: Order): void {
    this.resting.set(order.id, order)
    this.calls.push(`place ${order.side} ${order.sz} at ${order.px}`)
  }
  cancel(id: number): void {
    this.calls.push(`cancel ${this.resting.get(id)?.side}`)
    this.resting.delete(id)
  }
  cancelAll(why: string): void {
    this.calls.push(`pull: ${why}`)
    this.resting.clear()
  }
}

const bookAt = (px: number) => viewOf([[{ px: `${px - 5}`, sz: '1.0', n: 1 }], [{ px: `${px + 5}`, sz: '1.0', n: 1 }]])

function quoting() {
  const venue = new Recorder()
  const quoter = new Quoter(venue, SETTINGS)
  quoter.book(bookAt(100_000), 10_000, 10_050, NONE)
  return { venue, quoter, start: venue.calls.splice(0) }
}

describe('Quoter', () => {
  it('quotes both sides at five basis points', () => {
    expect(quoting().start).toEqual(['place B 0.001 at 99950', 'place A 0.001 at 100050'])
  })

  it('keeps its quotes, and their place in the queue, while the price hardly moves', () => {
    const { venue, quoter } = quoting()
    quoter.book(bookAt(100_009), 10_070, 10_100, NONE)
    expect(venue.calls).toEqual([])
    quoter.book(bookAt(100_100), 10_140, 10_170, NONE)
    expect(venue.calls).toEqual(['cancel B', 'place B 0.00099 at 100049', 'cancel A', 'place A 0.00099 at 100151'])
  })

  it('cancels everything before anything else when a block is late, and quotes again after a fresh one', () => {
    const { venue, quoter } = quoting()
    quoter.book(bookAt(100_500), 10_200, 10_200 + MAX_AGE_MS, NONE)
    expect(venue.calls.splice(0)).toEqual(['pull: the book is 1000 ms old'])
    quoter.book(bookAt(100_500), 10_270, 11_200, NONE)
    expect(venue.calls.map((call) => call.slice(0, 7))).toEqual(['place B', 'place A'])
  })

  it('cancels at `lateAt` when no block comes, once', () => {
    const { venue, quoter } = quoting()
    expect(quoter.lateAt).toBe(11_000)
    quoter.tick(10_999)
    expect(venue.calls).toEqual([])
    for (const now of [11_000, 12_000]) quoter.tick(now)
    expect(venue.calls).toEqual(['pull: the book is 1000 ms old'])
    expect(quoter.lateAt).toBe(Number.POSITIVE_INFINITY)
  })

  it('cancels when the book is unknown, has an empty side, or has an unknown age', () => {
    const unknown = quoting()
    unknown.quoter.lost('a change is missing')
    const empty = quoting()
    empty.quoter.book(viewOf([[], [{ px: '1', sz: '1', n: 1 }]]), 10_070, 10_100, NONE)
    const ageless = quoting()
    ageless.quoter.tick(Number.POSITIVE_INFINITY)
    expect([unknown, empty, ageless].map(({ venue }) => venue.calls)).toEqual([
      ['pull: a change is missing'],
      ['pull: one side of the book is empty'],
      ['pull: the age of the book is unknown'],
    ])
  })

  it('does not enlarge a position beyond its limit, and leans towards reducing it', () => {
    const { venue, quoter } = quoting()
    quoter.book(bookAt(100_000), 10_070, 10_100, new Big('0.00995'))
    expect(venue.calls).toEqual(['cancel B', 'cancel A', 'place A 0.001 at 100001'])
  })

  it('places a new quote for one that is gone', () => {
    const { venue, quoter } = quoting()
    quoter.gone(1)
    quoter.book(bookAt(100_000), 10_070, 10_100, NONE)
    expect(venue.calls).toEqual(['place B 0.001 at 99950'])
  })

  it('never has a resting quote while data is late or unknown', () => {
    const step = fc.oneof(
      // The block's own delay may be longer than the limit, and blocks may come out of order.
      fc.record({
        type: fc.constant('book' as const),
        px: fc.integer({ min: 90_000, max: 110_000 }),
        delay: fc.nat(1_500),
      }),
      fc.record({ type: fc.constant('lost' as const) }),
      fc.record({ type: fc.constant('wait' as const), ms: fc.nat(1_500) }),
      fc.record({ type: fc.constant('fill' as const), at: fc.nat(1) }),
    )
    let quoted = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const venue = new Recorder()
        const quoter = new Quoter(venue, SETTINGS)
        let now = 100_000
        let book: number | null = null
        for (const each of steps) {
          if (each.type === 'book') {
            book = now - each.delay
            quoter.book(bookAt(each.px), book, now, NONE)
          }
          if (each.type === 'lost') {
            book = null
            quoter.lost('lost')
          }
          if (each.type === 'fill') {
            const id = [...venue.resting.keys()][each.at]
            if (id !== undefined) {
              venue.resting.delete(id)
              quoter.gone(id)
            }
          }
          if (each.type === 'wait') {
            // As a program does: a timer at `lateAt`, and none without quotes.
            const until = now + each.ms
            if (quoter.lateAt <= until) quoter.tick(quoter.lateAt)
            now = until
          }
          const isFresh = book !== null && now - book < MAX_AGE_MS
          if (!isFresh) expect([...venue.resting.values()]).toEqual([])
          quoted += venue.resting.size
        }
      }),
    )
    expect(quoted).toBeGreaterThan(100)
  })
})

describe('ServerClock', () => {
  const at = (steady: number, wall = steady) => ({ steady, wall })

  it('never shows an earlier time than the gateway, whatever the reply and the local clock do', () => {
    const any = fc.nat(100_000)
    fc.assert(
      fc.property(any, any, fc.nat(2_000), fc.nat(2_000), any, fc.integer({ min: -1e9, max: 0 }), (...all) => {
        const [start, offset, there, back, later, jump] = all
        const clock = new ServerClock()
        // The gateway's time is the steady one plus an offset. The time of day may jump back.
        clock.measure(at(start, 5_000_000), start + there + offset)
        const steady = start + there + back + later
        const error = clock.now(at(steady, 5_000_000 + jump)) - (steady + offset)
        expect(error).toBeGreaterThanOrEqual(0)
        expect(error).toBeLessThanOrEqual(there + back)
      }),
    )
  })

  it('counts the time for which a machine slept', () => {
    const clock = new ServerClock()
    clock.measure(at(0, 1_000), 50_000)
    expect(clock.now(at(10, 61_000))).toBe(110_000)
  })

  it('is unknown before the first measurement, and again after five minutes without one', () => {
    const clock = new ServerClock()
    expect(clock.now(at(0))).toBe(Number.POSITIVE_INFINITY)
    clock.measure(at(0), 0)
    expect([clock.now(at(300_000)), clock.now(at(300_001))]).toEqual([300_000, Number.POSITIVE_INFINITY])
  })
})

it('rounds prices away from the other side, to what the exchange accepts', () => {
  const cases = [
    ['80627.4', 5, '80627', '80628'],
    ['1234.567', 4, '1234.5', '1234.6'],
    ['0.0119549', 0, '0.011954', '0.011955'],
    ['3.89723', 1, '3.8972', '3.8973'],
    ['123456.7', 0, '123456', '123457'],
  ] as const
  for (const [px, szDecimals, bid, ask] of cases) {
    const market = { szDecimals, pxDecimals: 6 - szDecimals }
    expect([roundPx(new Big(px), 'B', market), roundPx(new Big(px), 'A', market)]).toEqual([bid, ask])
  }
  expect([roundSz(new Big('0.123456'), MARKET), roundSz(new Big('0.000009'), MARKET)]).toEqual(['0.12345', '0'])
})
