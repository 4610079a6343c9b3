import { expect, test } from 'vitest'
import { poolOf, Refusals, relayOrder } from '../../../src/relay/sockets/placement.ts'

const ACCOUNTS = Array.from({ length: 8000 }, (_, i) => `acct_${i.toString(36)}`)

test('each account has all relays in an order of its own, and first choices are spread evenly', () => {
  const firsts = new Map<number, number>()
  for (const account of ACCOUNTS) {
    const order = relayOrder(account, 'light', 8)
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    firsts.set(order[0]!, (firsts.get(order[0]!) ?? 0) + 1)
  }
  for (const count of firsts.values()) expect(count).toBeGreaterThan(0.85 * 1000)
  const pairs = new Set(ACCOUNTS.map((account) => relayOrder(account, 'light', 8).slice(0, 2).join()))
  expect(pairs.size).toBe(8 * 7)
})

test('with one relay more an account keeps its order, but for the new one', () => {
  let moved = 0
  for (const account of ACCOUNTS) {
    const after = relayOrder(account, 'light', 9)
    if (after[0] === 8) moved++
    expect(after.filter((index) => index !== 8)).toEqual(relayOrder(account, 'light', 8))
  }
  expect(moved / ACCOUNTS.length).toBeCloseTo(1 / 9, 1)
})

test('heavy relays are others than light ones, and know it by their names', () => {
  expect(relayOrder('a', 'light', 1)).toEqual([0])
  const heavy = relayOrder('a', 'heavy', 256)
  expect(heavy.map((index) => poolOf(`hyperliquid/weur/${index}`))).toEqual(heavy.map(() => 'heavy'))
  expect([poolOf('hyperliquid/weur/255'), poolOf('a name of another form')]).toEqual(['light', 'light'])
})

test('refusals are remembered for a while, each for itself, and not without bound', () => {
  const refusals = new Refusals()
  refusals.full('weur', 1, 0)
  refusals.heavy('a', 0)
  expect([refusals.isFull('weur', 1, 1999), refusals.isFull('weur', 1, 2000), refusals.isFull('enam', 1, 0)]).toEqual([
    true,
    false,
    false,
  ])
  expect([refusals.pool('a', 59_999), refusals.pool('a', 60_000), refusals.pool('b', 0)]).toEqual([
    'heavy',
    'light',
    'light',
  ])
  for (let i = 0; i < 20_000; i++) refusals.heavy(`x${i}`, 0)
  expect([refusals.pool('a', 0), refusals.pool('x19999', 0)]).toEqual(['light', 'heavy'])
})
