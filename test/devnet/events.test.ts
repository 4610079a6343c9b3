// The files are sufficient to rebuild the exchange: order books from raw diffs, orders from statuses (positions and
// balances: consistency.test.ts). Every event has the node's keys in the node's order.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { EvmBlocks } from '../../src/devnet/evm/blocks.ts'
import { MARKETS } from '../../src/devnet/exchange/market.ts'
import { eventHash, isoNanos, nanosOf } from '../../src/devnet/exchange/node-block.ts'
import { LedgerEvent, UserFill } from '../../src/protocol/feed/block.ts'
import { shapesOf } from '../fixtures/shape.ts'
import { ORACLE_UPDATES, readLines, WIRES } from '../fixtures/wire.ts'
import { RebuiltBooks } from './rebuild.ts'

const FILL_KEYS = [
  'coin px sz side time startPosition dir closedPnl hash oid crossed fee builderFee tid cloid liquidation',
  'builder feeToken deployerFee twapId',
].flatMap((keys) => keys.split(' '))
const OPTIONAL = ['builderFee', 'cloid', 'liquidation', 'builder', 'deployerFee']

describe('the files contain the whole history', () => {
  it("raw diffs rebuild the exchange's books", () => {
    const engine = createEngine(21)
    const books = new RebuiltBooks()
    for (let i = 1; i <= 400; i++) {
      const block = engine.step()
      books.apply(block.rawDiffs)
      if (i % 40 !== 0) continue
      for (const { id, coin } of MARKETS) expect(books.levels(coin)).toEqual(engine.exchange.books[id]!.levels())
    }
  })

  it('a fill is next to the other side of its trade', () => {
    const engine = createEngine(22)
    for (let i = 0; i < 500; i++) {
      const { fills } = engine.step()
      for (let j = 0; j < fills.length; j += 2) {
        expect(fills[j]![1]).toMatchObject({ side: 'B', tid: fills[j + 1]![1].tid })
        expect(fills[j]![1].crossed).not.toBe(fills[j + 1]![1].crossed)
      }
    }
  })

  it('an order is open before it rests, and resting orders have been reported open', () => {
    const engine = createEngine(23)
    const open = new Set<number>()
    for (let i = 0; i < 300; i++) {
      const block = engine.step()
      for (const { status, order } of block.orderStatuses) if (status === 'open') open.add(order.oid)
      for (const { oid } of block.rawDiffs) expect(open.has(oid)).toBe(true)
    }
  })
})

describe('the form of events', () => {
  it("fills have the node's keys in its order, and pass the feed's own schemas", () => {
    const engine = createEngine(24)
    for (let i = 0; i < 500; i++) {
      const block = engine.step()
      for (const fill of block.fills) {
        const keys = Object.keys(fill[1])
        expect(keys).toEqual(FILL_KEYS.filter((key) => !OPTIONAL.includes(key) || keys.includes(key)))
        expect(UserFill.safeParse(fill).error).toBeUndefined()
      }
      for (const { hash, inner } of block.miscEvents) {
        if (!('LedgerUpdate' in inner)) continue
        expect(LedgerEvent.safeParse({ ...inner.LedgerUpdate, hash, time: block.timeMs }).error).toBeUndefined()
      }
    }
  })

  it('prices have at most five significant figures unless they are integers, and only the decimals that their market allows', () => {
    const engine = createEngine(25)
    const decimals = new Map(MARKETS.map((m) => [m.coin, (m.kind === 'perp' ? 6 : 8) - m.szDecimals]))
    for (let i = 0; i < 300; i++)
      for (const { coin, px } of engine.step().rawDiffs) {
        const [whole, fraction] = px.replace(/\.0$/, '').split('.') as [string, string?]
        if (fraction === undefined) continue
        expect(fraction.length).toBeLessThanOrEqual(decimals.get(coin)!)
        expect((whole + fraction).replace(/^0+/, '').length).toBeLessThanOrEqual(5)
      }
  })

  it('hashes contain the height, times have nine decimals', () => {
    const hash = eventHash(985_148_182, 'ab'.repeat(27))
    expect(hash).toHaveLength(66)
    expect(hash.slice(2 + 20, 2 + 30)).toBe('043ab82b16')
    const ns = 1_778_002_753_024_084_407n
    expect(isoNanos(ns)).toBe('2026-05-05T17:39:13.024084407')
    expect(nanosOf(isoNanos(ns))).toBe(ns)
  })

  const [, [, RECORDED]] = WIRES
  it.skipIf(!existsSync(join(RECORDED, ORACLE_UPDATES)))('oracle updates have the keys of recorded ones', () => {
    const keysOf = (value: unknown) => [...shapesOf(value)].filter((shape) => shape.includes('{')).sort()
    const engine = createEngine(25)
    const updates = Array.from({ length: 100 }, () => engine.step().oracleUpdates).flat()
    expect(keysOf(updates)).toEqual(keysOf(readLines(RECORDED, ORACLE_UPDATES).flatMap(({ events }) => events)))
  })

  it('oracle updates list every perp of a DEX; writer actions name a transaction of the EVM', () => {
    const engine = createEngine(26)
    const blocks = Array.from({ length: 330 }, () => engine.step())
    const coins = new Set(
      blocks.flatMap(({ oracleUpdates }) =>
        oracleUpdates.map((one) => one.mark_px_inputs.map(([coin]) => coin).join()),
      ),
    )
    expect([...coins].sort()).toEqual(['flx:OIL,flx:NVDA', 'xyz:GOLD,xyz:TSLA'])
    const actions = blocks.flatMap(({ writerActions }) => writerActions)
    expect(actions.length).toBeGreaterThan(1)
    const evm = new EvmBlocks(engine.exchange)
    for (const { evm_tx_hash: hash, user, action } of actions) {
      const { number, index } = evm.findTransaction(hash)!
      expect(evm.receipt(number, index)?.transactionHash).toBe(hash)
      expect([user, action.type]).toEqual([`0x20${'0'.repeat(38)}`, 'SystemSpotSendAction'])
    }
  })
})
