import { expect, test, vi } from 'vitest'
import type { MarketType } from '../../../src/core/coin.ts'
import type { BookHubApi, BookInterest } from '../../../src/protocol/hub/hub-api.ts'
import { Hub, SentHeights } from '../../../src/relay/links/hub.client.ts'

function hubOf() {
  const told: (readonly string[])[] = []
  const needed = { coins: new Set<string>(), types: new Set<MarketType>(), views: new Set<string>() }
  const views: (readonly string[] | undefined)[] = []
  const state = {
    isDown: false,
    stubs: 0,
    broken: new Set<number>(),
    gate: Promise.resolve(),
    joinGate: Promise.resolve(),
  }
  const api = {
    attach: async ({ interest }: { interest: BookInterest }) => {
      told.push(interest.coins)
      views.push(interest.views)
      await state.gate
      hub.link.accept({ close: () => undefined } as unknown as WebSocket, 0)
      return { v: 1, epoch: 'e', height: 1, lost: false }
    },
    join: async () => {
      await state.joinGate
      return { v: 1, ready: true, snapshots: [], unknown: [], rest: [] }
    },
    joinViews: async () => ({ v: 1, ready: true, height: 1, time: 1, views: [] }),
    setInterest: async (_: string, interest: BookInterest) => {
      if (state.isDown) throw new Error('down')
      told.push(interest.coins)
    },
  } as unknown as BookHubApi
  const stub = () => {
    const number = state.stubs++
    const joinTypes = async () => {
      if (state.broken.has(number)) throw new Error('Network connection lost.')
      return { coins: [] }
    }
    return { ...api, joinTypes } as unknown as BookHubApi
  }
  const ports = { relay: 'r', stub, interest: () => needed, isNeeded: () => true }
  const hub: Hub = new Hub({ ...ports, onLost: () => undefined, onRestart: () => undefined })
  return { hub, told, views, needed, state }
}

test('a reattached link keeps the coins of a starting subscription', async () => {
  const { hub, told } = hubOf()
  await hub.link.ensure()
  await hub.join(['BTC'], false)
  hub.link.check(60_000)
  await new Promise((resolve) => setTimeout(resolve))
  await hub.link.ensure()
  expect(told).toEqual([[], ['BTC']])
})

// WS-130
test('view interests are active on a reattached link, and released', async () => {
  const { hub, told, views, needed } = hubOf()
  await expect(hub.joinViews(['0 bbo\tBTC'])).rejects.toThrow('the link is down')
  needed.views.add('0 bbo\tBTC')
  await hub.link.ensure()
  await hub.joinViews(['0 bbo\tBTC'])
  await hub.syncInterest()
  expect(told).toEqual([[]])
  hub.link.check(60_000)
  await new Promise((resolve) => setTimeout(resolve))
  await hub.link.ensure()
  expect(views).toEqual([['0 bbo\tBTC'], ['0 bbo\tBTC']])
  needed.views.clear()
  await hub.syncInterest()
  expect(told).toHaveLength(3)
})

test('an interest that could not be sent is sent again', async () => {
  const { hub, told, state } = hubOf()
  await hub.link.ensure()
  await hub.join(['BTC'], false)
  state.isDown = true
  await expect(hub.syncInterest()).rejects.toThrow('down')
  state.isDown = false
  await hub.syncInterest()
  await hub.syncInterest()
  expect(told).toEqual([[], []])
})

test('coins and types requested during a reattach are inactive, so they are requested again', async () => {
  const { hub, told, state } = hubOf()
  await hub.link.ensure()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.gate = promise
  hub.link.check(60_000)
  await new Promise((resolve) => setTimeout(resolve))
  expect(told).toEqual([[], []])
  expect(await hub.join(['BTC'], true)).toMatchObject({ ready: false, rest: ['BTC'] })
  await expect(hub.joinTypes(['perp'])).rejects.toThrow('the link is down')
  resolve()
  await hub.link.ensure()
  expect(await hub.join(['BTC'], true)).toMatchObject({ ready: true })
  expect(await hub.joinTypes(['perp'])).toEqual({ coins: [] })
})

test('a broken stub is replaced under a live link', async () => {
  const { hub, state } = hubOf()
  await hub.link.ensure()
  state.broken.add(state.stubs - 1)
  await expect(hub.joinTypes(['perp'])).rejects.toThrow('lost')
  expect(await hub.joinTypes(['perp'])).toEqual({ coins: [] })
})

test('calls to an unresponsive hub time out', async () => {
  const { hub, state } = hubOf()
  await hub.link.ensure()
  state.joinGate = new Promise(() => undefined)
  vi.useFakeTimers()
  try {
    const refused = expect(hub.join(['BTC'], true)).rejects.toThrow('no answer within 15000 ms')
    await vi.advanceTimersByTimeAsync(15_000)
    await refused
  } finally {
    vi.useRealTimers()
  }
})

type Frame = readonly [height: number, epoch: string | null]

/** A hub that sent `before` is reattached and reports `at`: which later frames lose the sent books. */
function lostBy(before: readonly Frame[], at: Frame, behind: readonly Frame[]): number[] {
  const books = new SentHeights()
  for (const frame of before) books.record(...frame)
  books.onAttached(books.lastSent, at[1], at[0])
  return behind
    .filter(([height, epoch]) => {
      const isLost = books.isLost(height, epoch)
      books.record(height, epoch)
      return isLost
    })
    .map(([height]) => height)
}

/** `9a 10-`: height 9 in epoch `a`, then height 10 without books. */
const framesIn = (text: string): Frame[] =>
  text.split(' ').map((one) => [Number.parseInt(one, 10), one.endsWith('-') ? null : one.slice(-1)])
const TOLD = framesIn('9a 10a')

test.each<[string, readonly Frame[], Frame, string, number[]]>([
  ['a hub that tells the same again, and goes on', TOLD, [7, 'a'], '8a 9a 10a 11- 12b', []],
  ['one that stands where it stood', TOLD, [10, 'a'], '11- 12b', []],
  ['one that knows of no books where it told some', TOLD, [7, 'a'], '8a 9- 10- 11-', [9]],
  ['the same, before it has answered', TOLD, [10, 'a'], '9-', [9]],
  ['one whose books end below, by a gap', TOLD, [7, 'a'], '8a 20b 21b', [20]],
  ['the same, by a gap and no books', TOLD, [7, 'a'], '20- 21b', [20]],
  ['one that told nothing', [], [7, 'a'], '8- 9b', []],
  ['one that told no books of its last heights', [...TOLD, [11, null]], [7, 'a'], '9a 10a 11-', []],
])('%s', (_, before, at, behind, lost) => {
  expect(lostBy(before, at, framesIn(behind))).toEqual(lost)
})

test('a reply behind a newer book frame is ignored', () => {
  const books = new SentHeights()
  books.record(10, 'a')
  const { lastSent } = books
  books.record(11, 'a')
  books.onAttached(lastSent, 'a', 9)
  expect(books.isLost(12, null)).toBe(false)
})
