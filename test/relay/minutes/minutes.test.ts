import { expect, test } from 'vitest'
import { minutePrice } from '../../../src/relay/channel.ts'
import type { Minutes } from '../../../src/relay/minutes/minutes.ts'
import { endOf, firstCharge, owedCharges, wokenMinutes } from '../../../src/relay/minutes/minutes.ts'
import { wanted } from '../wanted.ts'

const minutes = (over: Partial<Minutes> = {}): Minutes => ({
  id: 's1',
  keyHash: 'k',
  type: 'allFills',
  price: 1_000_000,
  body: 'digest',
  sinceMs: 0,
  paid: 1,
  ...over,
})

// WS-36
test('prices: one credit a minute, books per coin or flat', () => {
  const priceOf = (body: Parameters<typeof wanted>[0]) => minutePrice(wanted(body))
  expect(priceOf({ type: 'userFills', addresses: [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] })).toBe(1_000_000)
  expect(priceOf({ type: 'allFills' })).toBe(1_000_000)
  expect(priceOf({ type: 'l2BookDiff', coin: 'BTC' })).toBe(130_000)
  expect(priceOf({ type: 'l2BookDiff2', coin: ['BTC', 'ETH', 'SOL'] })).toBe(390_000)
  expect(priceOf({ type: 'l2BookDiff' })).toBe(10_000_000)
})

test('a minute is owed once it has started, under its number, with what is left of it', () => {
  const running = minutes()
  expect(owedCharges('relay', running, 60_000)).toEqual([])
  expect(owedCharges('relay', running, 60_001)).toMatchObject([
    { subscription: 'relay/s1', ordinal: 1, amount: 1_000_000, keyHash: 'k', body: 'digest', leftMs: 59_999 },
  ])
  expect(owedCharges('relay', running, 130_000)).toMatchObject([
    { ordinal: 1, leftMs: 0 },
    { ordinal: 2, leftMs: 50_000 },
  ])
  running.paid++
  expect(owedCharges('relay', running, 120_000)).toEqual([])
})

test('an end leaves the rest of the minute that it falls into', () => {
  expect(endOf('relay', minutes(), 10_000)).toEqual({ subscription: 'relay/s1', body: 'digest', leftMs: 50_000 })
  expect(endOf('relay', minutes(), 60_000).leftMs).toBe(0)
  expect(endOf('relay', minutes(), 61_000).leftMs).toBe(59_000)
  // Begun with a rest of ten seconds.
  expect(endOf('relay', minutes({ sinceMs: -50_000 }), 4_000).leftMs).toBe(6_000)
})

test('the first charge is whole, whatever the clock says', () => {
  expect(firstCharge('relay', minutes({ paid: 0 }))).toMatchObject({ ordinal: 0, leftMs: 60_000 })
})

test('a relay that wakes asks for the present minute again under its old number', () => {
  const { paid: _, ...begun } = minutes({ sinceMs: 1000 })
  const woken = wokenMinutes(begun, 1000 + 150_000)
  expect(owedCharges('relay', woken, 1000 + 150_000)).toMatchObject([{ ordinal: 2, leftMs: 30_000 }])
})
