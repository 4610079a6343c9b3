// The exchange at production size: its depth and activity, and that the crowd's text equals the text made from objects.

import { beforeAll, describe, expect, it } from 'vitest'
import { createEngine, type Engine, restoreEngine } from '../../src/devnet/engine.ts'
import { bookDepths } from '../../src/devnet/exchange/crowd-state.ts'
import { crowdOrderAt, crowdOrderObject, orderText } from '../../src/devnet/exchange/crowd-text.ts'
import { ALL_MARKETS } from '../../src/devnet/exchange/market.ts'
import { type NodeBookDiff, STREAMS, streamLine } from '../../src/devnet/exchange/node-block.ts'
import { frontendOrder } from '../../src/devnet/exchange/order.ts'
import { Prng, seedState } from '../../src/devnet/exchange/prng.ts'
import { MAINNET, type Quantiles, quantile, type Scale, SMALL } from '../../src/devnet/exchange/scale.ts'
import { l4Snapshot } from '../../src/devnet/info/l4-snapshot.ts'
import { readCoin, SnapshotScanner } from '../../src/feeder/snapshot-file.ts'
import { RebuiltBooks } from './rebuild.ts'

const CROWD = MAINNET.crowd!

/** The same with a hundredth of the orders, which is created quickly. */
const THIN: Scale = {
  ...MAINNET,
  crowd: {
    ...CROWD,
    wallets: 20,
    orders: 12_000,
    levels: 9_000,
    first: { bids: { orders: 400, levels: 300 }, asks: { orders: 300, levels: 200 } },
  },
}

const total = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

describe('sizes', () => {
  it('add up exactly to those of the real exchange', () => {
    const depths = bookDepths(CROWD, ALL_MARKETS)
    expect(ALL_MARKETS).toHaveLength(300)
    expect(new Set(ALL_MARKETS.map(({ coin }) => coin)).size).toBe(300)
    expect(total(depths.flatMap(({ bids, asks }) => [bids.orders, asks.orders]))).toBe(780_000)
    expect(total(depths.flatMap(({ bids, asks }) => [bids.levels, asks.levels]))).toBe(650_000)
    expect(depths[0]).toEqual({ bids: { orders: 34_593, levels: 14_439 }, asks: { orders: 16_758, levels: 6_939 } })
    for (const { bids, asks } of depths)
      for (const side of [bids, asks]) expect(side.orders).toBeGreaterThanOrEqual(side.levels)
  })

  it('small-scale markets keep their ids, and the small scale lists no other coins', () => {
    expect(ALL_MARKETS.slice(0, SMALL.markets.length)).toEqual(SMALL.markets)
    expect(ALL_MARKETS.every(({ id }, i) => id === i)).toBe(true)
  })

  const measured = (points: Quantiles) => {
    const rng = new Prng(seedState(5))
    const draws = Array.from({ length: 20_000 }, () => quantile(points, rng.below(1_000_000) / 1e6))
    const sorted = draws.sort((a, b) => a - b)
    return { mean: total(draws) / draws.length, p50: sorted[10_000]!, p90: sorted[18_000]!, max: sorted.at(-1)! }
  }

  it('of blocks match the recording', () => {
    const all = measured(CROWD.diffs)
    expect(all.mean).toBeCloseTo(438, -1.3)
    expect([all.p50, all.p90, all.max].map((n, i) => Math.abs(n / [322, 843, 1_599][i]! - 1) < 0.04)).not.toContain(
      false,
    )
    const first = measured(CROWD.firstDiffs)
    expect(first.mean).toBeGreaterThan(24)
    expect(first.mean).toBeLessThan(28)
    expect([first.p50, first.p90, first.max].map((n, i) => Math.abs(n / [12, 61, 221][i]! - 1) < 0.06)).not.toContain(
      false,
    )
  })
})

const diffsOf = (engine: Engine): NodeBookDiff[] => {
  const { rawDiffs, crowd } = engine.step()
  return [...rawDiffs, ...crowd.rawDiffs.map((text) => JSON.parse(text) as NodeBookDiff)]
}

/** Content of a node's snapshot file at this moment, as diffs that produce the same order books. */
function snapshotDiffs({ exchange }: Engine): NodeBookDiff[] {
  const scanner = new SnapshotScanner()
  const coins = [...l4Snapshot(exchange, true, true)].flatMap((piece) => scanner.push(piece)).map(readCoin)
  expect([scanner.height, scanner.isComplete]).toEqual([exchange.height, true])
  return coins.flatMap(({ coin, orders }) =>
    orders.map(({ oid, side, px, sz }) => ({ user: '', oid, coin, side, px, raw_book_diff: { new: { sz } } })),
  )
}

describe('the crowd', () => {
  it('is deep from the start; snapshot plus diffs equal the books, which never cross', () => {
    const engine = createEngine(4, { scale: THIN })
    const books = new RebuiltBooks()
    books.apply(snapshotDiffs(engine))
    let fills = 0
    for (let i = 0; i < 60; i++) {
      books.apply(diffsOf(engine))
      fills += engine.exchange.block.fills.length
    }
    expect(fills).toBeGreaterThan(0)
    let orders = 0
    let levels = 0
    for (const { id, coin } of THIN.markets) {
      const truth = engine.exchange.books[id]!
      const sides = truth.levels()
      if (id < 20 || id % 20 === 0) expect(books.levels(coin)).toEqual(sides)
      expect(truth.bestPx('B')! < truth.bestPx('A')!, coin).toBe(true)
      orders += total(sides.flat().map(({ n }) => n))
      levels += sides.flat().length
    }
    expect(Math.abs(orders / 12_000 - 1)).toBeLessThan(0.03)
    expect(Math.abs(levels / 9_000 - 1)).toBeLessThan(0.03)
  })

  it('writes the same strings as for objects', () => {
    const engine = createEngine(5, { scale: THIN })
    const { crowd, accounts } = engine.exchange
    for (let slot = 0; slot < 2_000; slot++) {
      const order = crowdOrderAt(crowd!.orders, slot, accounts)
      expect(orderText(order)).toBe(JSON.stringify(frontendOrder(crowdOrderObject(crowd!.orders, slot))))
    }
    const { crowd: events, time } = engine.step()
    const statuses = events.orderStatuses.map((text) => JSON.parse(text))
    expect(statuses.length).toBeGreaterThan(events.rawDiffs.length)
    for (const text of [...events.orderStatuses, ...events.rawDiffs])
      expect(JSON.stringify(JSON.parse(text))).toBe(text)
    for (const status of statuses)
      expect(Object.keys(status)).toEqual(['time', 'user', 'hash', 'builder', 'status', 'order'])
    expect(statuses.every((status) => status.time === time)).toBe(true)
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set(['open', 'canceled', 'badAloPxRejected']))
  })

  it('has trigger orders, some as children, and one-sided fills', () => {
    const engine = createEngine(8, { scale: THIN })
    const seen = new Set<string>()
    const ids = new Set<number>()
    for (let i = 0; i < 600 && seen.size < 3; i++) {
      const { crowd, fills } = engine.step()
      for (const text of crowd.orderStatuses) {
        const { status, order } = JSON.parse(text)
        if (order.isTrigger) {
          expect(order).toMatchObject({ tif: null, reduceOnly: true, children: [] })
          expect(order.triggerCondition).toMatch(/^Price (above|below) \d/)
          expect(order.orderType).toMatch(/^(Stop|Take Profit) Market$/)
          seen.add('trigger')
        }
        for (const child of order.children) {
          expect(child).toMatchObject({ isTrigger: true, coin: order.coin, side: order.side === 'B' ? 'A' : 'B' })
          if (status !== 'open') continue
          expect(ids).not.toContain(child.oid)
          ids.add(child.oid)
          seen.add('child')
        }
        if (status === 'open') {
          expect(ids).not.toContain(order.oid)
          ids.add(order.oid)
        }
      }
      const times = Map.groupBy(fills, ([, { tid }]) => tid)
      for (const sides of times.values())
        if (sides.length === 1) {
          expect(sides[0]![1]).toMatchObject({ dir: 'Spot Dust Conversion', fee: expect.any(String) })
          seen.add('one side')
        }
    }
    expect(seen).toEqual(new Set(['trigger', 'child', 'one side']))
  }, 120_000)

  it('pays funding for every position, adding up to zero', () => {
    const engine = createEngine(6, { scale: THIN, fundingBlocks: 2 })
    engine.step()
    const funding = engine.step().miscEvents.flatMap(({ inner }) => ('Funding' in inner ? inner.Funding.deltas : []))
    expect(funding.length).toBeGreaterThan(20 * 250)
    expect(total(funding.map(({ funding_amount }) => Math.round(Number(funding_amount) * 1e8)))).toBe(0)
  })
})

describe('the full size', () => {
  let engine: Engine
  beforeAll(() => {
    engine = createEngine(7, { scale: MAINNET })
  }, 120_000)

  it('has every order and level, and resumes from a checkpoint with equal blocks', () => {
    const { orders } = engine.exchange.crowd!
    expect(total(orders.levels)).toBe(650_000)
    expect(total(orders.sides.map((side) => side.length))).toBe(780_000)
    for (let i = 0; i < 20; i++) engine.step()
    const again = restoreEngine(structuredClone(engine.checkpoint()))
    const next = (one: Engine) => {
      const block = one.step()
      return STREAMS.map((stream) => streamLine(block, stream, ''))
    }
    for (let i = 0; i < 20; i++) expect(next(again)).toEqual(next(engine))
  }, 120_000)
})
