import { beforeEach, expect, test, vi } from 'vitest'
import type { JoinResponse } from '../../../src/protocol/hub/hub-api.ts'
import { Joiner } from '../../../src/relay/books/joiner.ts'
import { SharedSnapshotScan, type SnapshotReceiver } from '../../../src/relay/books/shared-snapshot-scan.ts'
import { l2BookDiff } from '../../../src/relay/channels/level-diffs.ts'
import type { Connection } from '../../../src/relay/sockets/connection.ts'

const SHARDS = 1
const COINS = Array.from({ length: 100 }, (_, index) => `C${index}`)
const BYTES = 100

const clock = { nowMs: 0 }
let fetches: string[][]
let handed: [name: string, coin: string][]
let watched: Set<string>
let texts: Set<string>
let perAnswer: number
let answers: boolean
let carousel: SharedSnapshotScan
let pacedBytes: number
/** Called between two sends. */
let during: () => void
/** Called when nobody may be sent anything. */
let waits: () => void

beforeEach(() => {
  clock.nowMs = 0
  fetches = []
  handed = []
  watched = new Set()
  texts = new Set()
  perAnswer = 10
  answers = true
  pacedBytes = 0
  during = () => undefined
  waits = () => undefined
  carousel = new SharedSnapshotScan({
    hub: 0,
    clock,
    wait: async (ms) => {
      waits()
      clock.nowMs += ms
    },
    pace: async (bytes) => {
      expect(bytes).toBeGreaterThan(BYTES)
      pacedBytes += bytes
      during()
    },
    fetch: async (coins) => {
      for (const coin of coins) expect(watched).toContain(coin)
      fetches.push([...coins])
      return answers ? answer(coins) : null
    },
    startRecording: (coins) => {
      for (const coin of coins) watched.add(coin)
    },
    stopRecording: (coins) => {
      for (const coin of coins) watched.delete(coin)
    },
    deliver: ({ key, joiner }, snapshot, text) => {
      expect(watched).toContain(snapshot.coin)
      handed.push([key, snapshot.coin])
      texts.add(text)
      joiner.onSnapshot(snapshot)
    },
  })
})

function answer(coins: readonly string[]): JoinResponse {
  const known = coins.filter((coin) => COINS.includes(coin))
  const levels = ' '.repeat(BYTES)
  const snapshots = known.slice(0, perAnswer).map((coin) => ({ coin, time: 0, height: 1, epoch: 'e', seq: 1, levels }))
  return {
    v: 1,
    ready: true,
    snapshots,
    unknown: coins.filter((coin) => !COINS.includes(coin)),
    rest: known.slice(perAnswer),
  }
}

const rider = (
  key: string,
  coins: readonly string[],
  more: Partial<SnapshotReceiver> = {},
  waitMs = () => 0,
): SnapshotReceiver => {
  const joiner = new Joiner(l2BookDiff, SHARDS)
  joiner.expect(coins)
  const connection = { snapshotWaitMs: waitMs, end: () => undefined } as unknown as Connection
  return { key, joiner, connection, encode: l2BookDiff.snapshot!, isQuick: false, ...more }
}
const coinsOf = (name: string) => handed.flatMap(([key, coin]) => (key === name ? [coin] : []))

test('each coin is asked for and written once for all who are there, and everyone gets each once', async () => {
  const riders = Array.from({ length: 16 }, (_, index) => rider(`r${index}`, COINS))
  expect(await Promise.all(riders.map((one) => carousel.serve(one)))).toEqual(riders.map(() => true))
  // The first came alone.
  expect(fetches.length).toBeLessThanOrEqual(2 + COINS.length / perAnswer)
  for (const { key } of riders) expect(coinsOf(key).sort()).toEqual([...COINS].sort())
  expect(texts.size).toBeLessThanOrEqual(COINS.length + perAnswer)
  await vi.waitFor(() => expect(watched.size).toBe(0))
  expect(pacedBytes).toBeGreaterThan(16 * COINS.length * BYTES)
})

test('who comes later is served what is under way, and then what it missed', async () => {
  let later: Promise<boolean> | undefined
  during = () => {
    if (handed.length === 30) later = carousel.serve(rider('later', COINS))
  }
  expect(await carousel.serve(rider('first', COINS))).toBe(true)
  expect(await later).toBe(true)
  expect(coinsOf('later').sort()).toEqual([...COINS].sort())
  // What they both lacked was read once.
  expect(fetches.length).toBeLessThan(18)
})

test('few coins do not wait behind whole markets', async () => {
  const whole = carousel.serve(rider('whole', COINS))
  await carousel.serve(rider('quick', ['C99'], { isQuick: true }))
  expect(coinsOf('whole').length).toBeLessThan(3 * perAnswer)
  expect(await whole).toBe(true)
})

test('one that may not be sent to now keeps nobody waiting, and gets the rest when it may', async () => {
  const slow = rider('slow', COINS, {}, () => (clock.nowMs < 5000 ? 5000 - clock.nowMs : 0))
  const served = carousel.serve(slow)
  await carousel.serve(rider('fast', COINS))
  expect(clock.nowMs).toBeLessThan(5000)
  expect(await served).toBe(true)
  expect(clock.nowMs).toBe(5000)
  expect(coinsOf('slow').sort()).toEqual([...COINS].sort())
})

test('no book is read again and again for one that takes none', async () => {
  let read = 0
  const waitMs = () => {
    if (clock.nowMs >= 60_000) return 0
    read = fetches.length
    return 50
  }
  await carousel.serve(rider('stuck', COINS, {}, waitMs))
  expect(read).toBeLessThanOrEqual(2)
})

test('who comes while another waits for long is served within seconds', async () => {
  let next: Promise<number> | undefined
  const comes = async () => {
    await carousel.serve(rider('next', ['C99'], { isQuick: true }))
    return clock.nowMs
  }
  waits = () => {
    next ??= comes()
  }
  const waitMs = () => Math.max(0, 9000 - clock.nowMs)
  await carousel.serve(rider('waiting', COINS, {}, waitMs))
  expect(await next).toBeLessThan(3000)
})

test('who reads in time is waited for, so that a coin is read once for all', async () => {
  // Each may be sent a Snapshot every 100 ms, at another time.
  const lastMs = new Map<number, number>()
  const riders = Array.from({ length: 8 }, (_, index) => {
    const waitMs = () => {
      const left = (lastMs.get(index) ?? -100 + index) + 100 - clock.nowMs
      if (left <= 0) lastMs.set(index, clock.nowMs)
      return Math.max(0, left)
    }
    return rider(`r${index}`, COINS, {}, waitMs)
  })
  await Promise.all(riders.map((one) => carousel.serve(one)))
  for (const { key } of riders) expect(coinsOf(key).sort()).toEqual([...COINS].sort())
  expect(fetches.length).toBeLessThanOrEqual(3 + COINS.length / perAnswer)
})

test('a coin without a book is served from its first change on', async () => {
  const one = rider('one', ['C1', 'gone'])
  expect(await carousel.serve(one)).toBe(true)
  const entry = { mark: '+' as const, coin: 'gone', prevSeq: -1, levels: '[[],[]]' }
  expect(one.joiner.push({ height: 2, time: 0, epoch: 'e', updates: [entry] }).texts).toHaveLength(1)
})

test('a hub that does not answer lets go of those that need it, and one that left is let go of', async () => {
  answers = false
  const left = rider('left', COINS)
  const both = [carousel.serve(rider('one', COINS)), carousel.serve(left)]
  left.joiner.abandon()
  expect(await Promise.all(both)).toEqual([false, true])
  answers = true
  expect(await carousel.serve(rider('next', COINS))).toBe(true)
})
