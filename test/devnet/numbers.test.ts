// Rules of the small pure modules: amounts, positions, the generator.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromScaled, toScaled } from '../../src/core/decimal.ts'
import { amountOf, formatAmount, notional } from '../../src/devnet/exchange/fixed-point.ts'
import { Prng, seedState } from '../../src/devnet/exchange/prng.ts'
import { applyFill } from '../../src/devnet/exchange/settle.ts'
import type { Position } from '../../src/devnet/exchange/wallet.ts'
import { Tail } from '../../src/devnet/info/block-history.ts'

const flat = (): Position => ({ szi: 0n, cost: 0n, leverage: 1, fundingSinceOpen: 0n, fundingSinceChange: 0n })

describe('amounts', () => {
  it("are written as the exchange's decimals", () => {
    const amount = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n })
    fc.assert(fc.property(amount, (a) => void expect(formatAmount(a)).toBe(fromScaled(a * 10n ** 10n))))
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), (a) => {
        expect(amountOf(formatAmount(a))).toBe(a)
        expect(toScaled(formatAmount(a))).toBe(a * 10n ** 10n)
      }),
    )
  })
})

describe('a position', () => {
  const lot = 1_000n
  const fill = fc.record({
    lots: fc.bigInt({ min: -500n, max: 500n }).filter((n) => n !== 0n),
    px: fc.bigInt({ min: 1n, max: 10n ** 6n }).map((ticks) => ticks * 10n ** 6n),
  })

  it('realizes exactly the amounts paid and received, in any order of fills', () => {
    fc.assert(
      fc.property(fc.array(fill, { maxLength: 40 }), (fills) => {
        const position = flat()
        let cash = 0n
        let realised = 0n
        for (const { lots, px } of fills) {
          const delta = lots * lot
          const change = applyFill(position, delta, px)
          cash -= delta > 0n ? notional(px, delta) : -notional(px, -delta)
          realised += change.closedPnl
          expect(change.start + delta).toBe(position.szi)
          expect(cash + position.cost).toBe(realised)
          expect(position.szi === 0n ? position.cost : 0n).toBe(0n)
          expect(change.dir.startsWith('Open') ? change.closedPnl : 0n).toBe(0n)
        }
      }),
    )
  })
})

describe('the generator', () => {
  it('continues from its state, and seeds differ', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (seed) => {
        const rng = new Prng(seedState(seed))
        for (let i = 0; i < 10; i++) rng.word()
        const copy = new Prng(rng.state())
        expect(copy.hex(20)).toBe(rng.hex(20))
        expect(rng.hex(16)).toMatch(/^[0-9a-f]{32}$/)
        expect(new Prng(seedState(seed + 1)).hex(16)).not.toBe(new Prng(seedState(seed)).hex(16))
      }),
    )
  })

  it('is the published xoshiro128**', () => {
    const rng = new Prng([1, 2, 3, 4])
    expect([rng.word(), rng.word(), rng.word(), rng.word()]).toEqual([11520, 0, 5927040, 70819200])
  })
})

describe('a tail', () => {
  it('contains the last items added', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 12 }), (items, bound) => {
        const tail = new Tail<number>(bound)
        for (const item of items) tail.push(item)
        expect(tail.toArray()).toEqual(items.slice(-bound))
        expect([tail.last(), tail.toArray().length]).toEqual([items.at(-1), Math.min(items.length, bound)])
      }),
    )
  })
})
