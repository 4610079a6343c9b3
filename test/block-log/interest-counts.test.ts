// Differences add up to the current requests, and to the subscriptions that the log sends to its feeders.

import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { InterestCounts, wantFrameParts } from '../../src/block-log/interest-counts.ts'
import { OrderInterests } from '../../src/block-log/order-interests.do.ts'
import { FeedSession } from '../../src/feeder/session.ts'
import { GatewayFrame, WALLETS_PER_FRAME, type WantFrame } from '../../src/protocol/feed/protocol.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const TELL_MS = 1_000
const LINGER_MS = 31_000

// FEED-32
test('invariant: changes lead a feeder to the union of all interests, however they are split and bounded', () => {
  const step = fc.record({ relay: fc.nat(2), ask: fc.boolean(), name: fc.nat(6), take: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: 1, max: 8 }), (steps, most) => {
      const names = new InterestCounts(most)
      const relays = [new Set<string>(), new Set<string>(), new Set<string>()]
      const heard = new Set<string>()
      for (const { relay, ask, name, take } of [...steps, { relay: 0, ask: true, name: 9, take: true }]) {
        const own = relays[relay]!
        const one = wallet(name)
        if (ask && !own.has(one)) names.add([one])
        if (!ask && own.has(one)) names.remove([one])
        if (ask) own.add(one)
        else own.delete(one)
        if (!take) continue
        const { add, drop } = names.takeChange() ?? { add: [], drop: [] }
        for (const gone of drop) expect(heard.delete(gone)).toBe(true)
        expect(add.filter((come) => heard.has(come))).toEqual([])
        for (const come of add) heard.add(come)
        expect(names.takeChange()).toBeNull()
        expect(heard).toEqual(names.sent)
        const union = new Set(relays.flatMap((wants) => [...wants]))
        expect(heard.size).toBe(Math.min(most, union.size))
        expect([...heard].filter((told) => !union.has(told))).toEqual([])
      }
    }),
  )
})

// FEED-32
test('parts fit frames, and only the first replaces earlier interests', () => {
  const add = Array.from({ length: 2 * WALLETS_PER_FRAME + 1 }, (_, n) => wallet(n))
  const frames = [
    ...wantFrameParts({ orders: { add, drop: add.slice(0, 3) }, l4: { add: ['BTC'], drop: [] } }, true),
  ].map((part) => ({ type: 'want', ...part }))
  for (const frame of frames) expect(JSON.stringify(GatewayFrame.parse(frame)).length).toBeLessThan(512 * 1024)
  expect(frames.map(({ whole }) => whole)).toEqual([true, undefined, undefined])
  expect(frames.flatMap(({ orders }) => orders.add)).toEqual(add)
  expect(frames.map(({ l4 }) => l4?.add)).toEqual([['BTC'], undefined, undefined])
  expect([...wantFrameParts({ orders: null, l4: null }, true)]).toEqual([
    { whole: true, orders: { add: [], drop: [] } },
  ])
})

/** The log's subscriptions, a feeder that receives them, and relays that send theirs. */
function world() {
  const feeder = new FeedSession()
  const hear = (frame: WantFrame) => void feeder.onFrame(frame, 0)
  const wants = new OrderInterests(hear, 0)
  const say = (relay: string, add: number[], drop: number[] = [], whole = false) => {
    const orders = { add: add.map(wallet), drop: drop.map(wallet) }
    wants.onMessage(relay, JSON.stringify({ v: 1, t: 'want', ...(whole && { whole }), orders }))
    vi.advanceTimersByTime(TELL_MS)
  }
  return { feeder, wants, hear, say, wanted: () => [...feeder.wantedWallets].sort() }
}

// FEED-34
test('a feeder is asked once for the interests of all relays; a restarted relay replaces its interests', () => {
  const { say, wanted } = world()
  say('a', [1, 2], [], true)
  say('b', [2, 3], [9], true)
  expect(wanted()).toEqual([1, 2, 3].map(wallet))
  say('a', [2], [2])
  expect(wanted()).toEqual([1, 2, 3].map(wallet))
  say('b', [], [2])
  say('a', [], [], true)
  expect(wanted()).toEqual([3].map(wallet))
})

// FEED-34
test("interests outlive a relay's link for 30 seconds", () => {
  const { wants, say, wanted } = world()
  say('a', [1], [], true)
  say('b', [2], [], true)
  wants.onLeft('a', 0)
  wants.onLeft('b', 0)
  wants.tick(LINGER_MS / 2)
  say('b', [2], [], true)
  wants.tick(LINGER_MS)
  vi.advanceTimersByTime(TELL_MS)
  expect(wanted()).toEqual([wallet(2)])
})

// FEED-34
test('a restarted log withdraws old interests only after relays had time to report, and sends new feeders everything', () => {
  const { feeder, wants, hear, say, wanted } = world()
  hear({ type: 'want', orders: { add: [1, 2].map(wallet), drop: [] } })
  say('a', [2], [], true)
  for (const frame of wants.initialFrames()) hear(frame)
  wants.tick(LINGER_MS / 2)
  expect(wanted()).toEqual([1, 2].map(wallet))
  wants.tick(LINGER_MS)
  expect(wanted()).toEqual([wallet(2)])
  feeder.onClose()
  expect(wanted()).toEqual([wallet(2)])
  expect([...wants.initialFrames()].slice(1)).toEqual([
    { type: 'want', whole: true, orders: { add: [wallet(2)], drop: [] } },
  ])
})
