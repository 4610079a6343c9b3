import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { PositionBuilders } from '../../src/block-log/position-builders.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { fillWith } from '../kit/fills.ts'

const USERS = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`)
const BUILDERS = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`)
const [USER, OTHER] = USERS as [string, string]
const [BUILDER, RIVAL] = BUILDERS as [string, string]

const fillOf = (more: Partial<Fill> = {}) =>
  fillWith({ time: 5, startPosition: '3.0', hash: '0x1', oid: 7, twapId: null, ...more })
const through = (more: Partial<Fill> = {}): UserFill => [USER, fillOf({ builder: BUILDER, ...more })]
const liquidated = (more: Partial<Fill> = {}, user = USER): UserFill => [
  user,
  fillOf({ side: 'A', liquidation: { liquidatedUser: USER, markPx: '1.0', method: 'market' }, ...more }),
]
const fresh = () => new PositionBuilders(() => undefined)

// WS-103
it('a liquidation belongs to the builder of the last other fill of its wallet and coin', () => {
  const builders = fresh()
  expect(builders.apply([through()])).toEqual([])
  expect(builders.apply([through({ coin: 'ETH', builder: RIVAL }), liquidated()])).toEqual([[1, BUILDER]])
  // More of the same coin in later blocks, and another coin.
  expect(builders.apply([liquidated(), liquidated({ coin: 'ETH' }), liquidated({ coin: 'SOL' })])).toEqual([
    [0, BUILDER],
    [1, RIVAL],
  ])
})

// WS-103
it.each([
  ['a fill without a builder', fillOf()],
  ['a slice of a TWAP order', fillOf({ builder: BUILDER, twapId: 4 })],
  ['a fill that closes the position', fillOf({ builder: BUILDER, side: 'A', sz: '3.00' })],
])('no builder is known after %s', (_, last) => {
  const builders = fresh()
  expect(builders.apply([through(), [USER, last], liquidated()])).toEqual([])
})

// WS-103
it("the counterparty's fill of a liquidation counts like any other", () => {
  const builders = fresh()
  builders.apply([[OTHER, fillOf({ builder: RIVAL })], through()])
  const taken: UserFill = [OTHER, { ...liquidated()[1], side: 'B', builder: BUILDER }]
  expect(builders.apply([liquidated(), taken])).toEqual([[0, BUILDER]])
  expect(builders.apply([[OTHER, { ...liquidated()[1], liquidation: { liquidatedUser: OTHER } }]])).toEqual([
    [0, BUILDER],
  ])
  expect(builders.apply([through({ coin: '@1' }), liquidated({ coin: '@1' })])).toEqual([])
})

const someFill = fc.record({
  user: fc.constantFrom(...USERS),
  coin: fc.constantFrom('BTC', 'xyz:GOLD', '@1'),
  kind: fc.constantFrom('plain', 'built', 'slice', 'liquidation', 'close'),
  builder: fc.constantFrom(...BUILDERS),
})
type Some = typeof someFill extends fc.Arbitrary<infer T> ? T : never

const read = ({ user, coin, kind, builder }: Some): UserFill => [
  user,
  fillOf({
    coin,
    ...(kind === 'built' || kind === 'slice' ? { builder } : {}),
    ...(kind === 'slice' ? { twapId: 3 } : {}),
    ...(kind === 'liquidation' ? { side: 'A', liquidation: { method: 'market' } } : {}),
    ...(kind === 'close' ? { side: 'A', sz: '3.0', builder } : {}),
  }),
]

/** Expected result, by a search back through all fills. */
function plain(fills: readonly Some[]): [number, string][] {
  return fills.flatMap(({ user, coin, kind }, index): [number, string][] => {
    const own = fills.slice(0, index).filter((one) => one.user === user && one.coin === coin)
    const last = own.findLast((one) => one.kind !== 'liquidation')
    return kind === 'liquidation' && coin !== '@1' && last?.kind === 'built' ? [[index, last.builder]] : []
  })
}

// WS-103
it('equals a search of all fills, whenever it is stored or restarted', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ fill: someFill, save: fc.boolean(), wake: fc.boolean() })), (steps) => {
      const stored = new Map<number, string>()
      let builders = fresh()
      // Retained segments: one per part, so each is either stored since or read again.
      let held: UserFill[][] = []
      const told: [number, string][] = []
      for (const [index, { fill, save, wake }] of steps.entries()) {
        const block = [read(fill)]
        for (const [, builder] of builders.apply(block)) told.push([index, builder])
        held = [...held, block].slice(-64)
        if (save) {
          const changed = builders.takeChanged()
          if (changed) stored.set(changed.part, changed.text)
        }
        if (!wake) continue
        builders = new PositionBuilders((part) => stored.get(part))
        for (const one of held) builders.apply(one)
      }
      expect(told).toEqual(plain(steps.map(({ fill }) => fill)))
    }),
  )
})

it('forgets everything after missed fills, including what is stored', () => {
  const builders = fresh()
  builders.apply([through()])
  expect(builders.takeChanged()?.text).toBe(`${USER} BTC ${BUILDER}`)
  builders.forget()
  expect(builders.takeChanged()?.text).toBe('')
  expect(builders.takeChanged()).toBe(undefined)
  expect(builders.apply([liquidated()])).toEqual([])
})
