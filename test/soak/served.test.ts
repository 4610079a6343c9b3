// The bounds of a client's charges detect a missing and a doubled minute.

import { expect, it } from 'vitest'
import { Served } from './served.ts'

const MINUTE = 60_000

/** A subscription from 0 to `endMs` of which something comes all the time. */
function served(endMs: number, price = 1_000_000): Served {
  const stream = new Served()
  stream.asked('a', 'trades', price, 0)
  stream.acked('a', true, 0)
  stream.heard(endMs)
  stream.ended(endMs)
  return stream
}

it('takes what three and a half minutes cost, and neither two nor five', () => {
  const [{ type, least, most } = { type: '', least: 0, most: 0 }] = served(3.5 * MINUTE).bounds()
  expect(type).toBe('trades')
  expect(least).toBeGreaterThan(3_000_000)
  expect(most).toBe(4_000_000)
})

it('adds lives up, whose rests may be used again', () => {
  const stream = served(30_000)
  for (const at of [40_000, 80_000]) {
    stream.asked('a', 'trades', 1_000_000, at)
    stream.acked('a', true, at)
    stream.heard(at + 30_000)
    stream.ended(at + 30_000)
  }
  expect(stream.bounds()).toEqual([{ type: 'trades', least: 1_000_000, most: 3_000_000 }])
})

it('asks nothing for what never came, and lets one minute be charged for it', () => {
  const stream = new Served()
  stream.asked('a', 'l2BookDiff', 130_000, 0)
  stream.ended(5_000)
  stream.asked('a', 'l2BookDiff', 130_000, 9_000)
  stream.acked('a', false, 10_000)
  stream.heard(40_000)
  stream.ended(40_000)
  expect(stream.bounds()).toEqual([{ type: 'l2BookDiff', least: 0, most: 260_000 }])
})

it('lets one that never reads, and so sees no acknowledgement, be charged as long as it is there', () => {
  const stream = new Served()
  stream.asked('a', 'l2BookDiff', 600_000, 0)
  stream.ended(2.5 * MINUTE)
  expect(stream.bounds()).toEqual([{ type: 'l2BookDiff', least: 0, most: 1_800_000 }])
})

it('counts a book from its last Snapshot on', () => {
  const stream = new Served()
  stream.asked('a', 'l2BookDiff', 600_000, 0)
  stream.acked('a', false, 0)
  stream.whole('a', 20_000)
  stream.heard(90_000)
  stream.ended(90_000)
  expect(stream.bounds()).toEqual([{ type: 'l2BookDiff', least: 600_000, most: 1_200_000 }])
})

it('does not ask for the minutes that a relay had not charged when it was killed', () => {
  const stream = new Served()
  for (const isKilled of [true, false]) {
    stream.asked('a', 'trades', 1_000_000, 0)
    stream.acked('a', true, 0)
    stream.heard(12.5 * MINUTE)
    if (isKilled) stream.killed(12.5 * MINUTE)
    stream.ended(12.5 * MINUTE)
  }
  const [{ least, most } = { least: 0, most: 0 }] = stream.bounds()
  expect(least / 1e6).toBeCloseTo(2.5 + 12.5 - 2 / 6)
  expect(most).toBe(26_000_000)
})

it('takes each answer once, the lost ones perhaps, and those before a kill perhaps not', () => {
  const calls = new Served()
  const ask = () => calls.called('meta', 1_000_000)
  for (const at of [0, 30_000, 58_000]) {
    ask()
    calls.answered('meta', 1_000_000, true, at)
  }
  ask()
  calls.answered('meta', 1_000_000, false, 58_500)
  ask()
  expect(calls.bounds()).toEqual([{ type: 'meta', least: 3_000_000, most: 4_000_000 }])
  calls.killed(60_000)
  expect(calls.bounds()).toEqual([{ type: 'meta', least: 2_000_000, most: 4_000_000 }])
})
