// Blocks of a source against the archived blocks around a gap: agreeing ones are accepted, altered ones are refused.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CheckedBlock, checkedBlock } from '../../../src/archive/archive/source-check.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { contradictionOf } from '../../kit/at-once.ts'
import { fillWith } from '../../kit/fills.ts'

const USERS = [1, 2, 3].map((digit) => `0x${String(digit).repeat(40)}`)

/** Blocks of wallets that trade with each other; every position continues. */
function chainOf(trades: readonly (readonly [buyer: number, size: number])[]): CheckedBlock[] {
  const positions = new Map<string, number>()
  return trades.map(([buyer, size], height) => {
    const fills = [buyer, (buyer + 1) % USERS.length].map((at, index): UserFill => {
      const user = USERS[at]!
      const start = positions.get(user) ?? 0
      positions.set(user, start + (index === 0 ? size : -size))
      const side = index === 0 ? 'B' : 'A'
      return [user, fillWith({ side, sz: String(size), startPosition: String(start), tid: height, oid: height })]
    })
    return { height, time: height * 1_000, fills }
  })
}

const trades = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 9 })), {
  minLength: 12,
  maxLength: 30,
})
const inside = (blocks: readonly CheckedBlock[], from: number, to: number) =>
  blocks.filter(({ height }) => height >= from && height <= to)
const outside = (blocks: readonly CheckedBlock[], from: number, to: number) =>
  blocks.filter(({ height }) => height < from || height > to)

it('a compared block keeps nothing that is not compared, because the payments of an hour may be large', () => {
  const line = JSON.stringify({ v: 1, height: 3, time: 5, fills: [], ledger: [], funding: [], payments: ['many'] })
  expect(checkedBlock(line)).toEqual({ height: 3, time: 5, fills: [] })
})

describe('blocks of a source', () => {
  it('that agree with the archive are never refused', () => {
    fc.assert(
      fc.property(trades, fc.nat(5), fc.nat(3), (list, length, margin) => {
        const all = chainOf(list)
        const from = 4
        const to = from + length
        expect(contradictionOf(inside(all, from - margin, to + margin), outside(all, from, to))).toBeNull()
      }),
    )
  })

  it('with other sizes are refused, because positions do not continue', () => {
    fc.assert(
      fc.property(trades, fc.integer({ min: 2, max: 5 }), (list, factor) => {
        const all = chainOf(list)
        const wrong = inside(all, 3, 9).map((block) => ({
          ...block,
          fills: block.fills.map(([user, fill]): UserFill => [user, { ...fill, sz: String(Number(fill.sz) * factor) }]),
        }))
        expect(contradictionOf(wrong, outside(all, 3, 9))).toMatch(/positions do not continue: BTC of 0x.*block \d/)
      }),
    )
  })

  const all = chainOf(Array.from({ length: 12 }, (_, at) => [at % 3, 1 + (at % 4)] as const))
  const archived = outside(all, 4, 7)

  it.each([
    ['of another chain', (block: CheckedBlock) => ({ ...block, time: block.time + 1 }), /^block 3 .* time is 3001/],
    [
      'with fewer fills',
      (block: CheckedBlock) => ({ ...block, fills: block.fills.slice(1) }),
      /^block 3 .* 1 fills instead of 2/,
    ],
    [
      'with other trades',
      (block: CheckedBlock) => ({
        ...block,
        fills: block.fills.map(([user, fill]): UserFill => [user, { ...fill, tid: 99 }]),
      }),
      /^block 3 .* fill 0 is not the same/,
    ],
  ])('%s are refused by the blocks next to the gap', (_, change, message) => {
    expect(contradictionOf(inside(all, 3, 8).map(change), archived)).toMatch(message)
  })

  it('of another time are refused, even without a block to compare', () => {
    const late = inside(all, 4, 7).map((block) => ({ ...block, time: block.time + 3_600_000, fills: [] }))
    expect(contradictionOf(late, archived)).toMatch(/^block 8 has the time 8000, but block 7 has 3607000/)
    const early = inside(all, 4, 7).map((block) => ({ ...block, time: block.time - 3_600_000, fills: [] }))
    expect(contradictionOf(early, archived)).toMatch(/^block 4 has the time -3596000/)
  })

  it('may have a break of a position, as the exchange itself has', () => {
    const shifted = all.map((block) => ({
      ...block,
      fills: block.fills.map(([user, fill]): UserFill => {
        const isShifted = block.height >= 5 && user === USERS[0]
        return isShifted ? [user, { ...fill, startPosition: String(Number(fill.startPosition) + 7) }] : [user, fill]
      }),
    }))
    expect(contradictionOf(inside(shifted, 4, 7), outside(shifted, 4, 7))).toBeNull()
  })
})
