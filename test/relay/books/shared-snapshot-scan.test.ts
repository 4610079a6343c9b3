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
let scan: SharedSnapshotScan
let pacedBytes: number
/** Called between two sends. */
let during: () => void
/** Called when nothing may be sent. */
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
  scan = new SharedSnapshotScan({
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
  const present = coins.filter((coin) => COINS.includes(coin))
  const levels = ' '.repeat(BYTES)
  const snapshots = present
    .slice(0, perAnswer)
    .map((coin) => ({ coin, time: 0, height: 1, epoch: 'e', seq: 1, levels }))
  return {
    v: 1,
    ready: true,
    snapshots,
    unknown: coins.filter((coin) => !COINS.includes(coin)),
    rest: present.slice(perAnswer),
  }
}

const waiter = (
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

test('requests and encodes each coin once for all current waiters, and sends each once', async () => {
  const riders = Array.from({ length: 16 }, (_, index) => waiter(`r${index}`, COINS))
  expect(await Promise.all(riders.map((one) => scan.serve(one)))).toEqual(riders.map(() => true))
  // The first came alone.
  expect(fetches.length).toBeLessThanOrEqual(2 + COINS.length / perAnswer)
  for (const { key } of riders) expect(coinsOf(key).sort()).toEqual([...COINS].sort())
  expect(texts.size).toBeLessThanOrEqual(COINS.length + perAnswer)
  await vi.waitFor(() => expect(watched.size).toBe(0))
  expect(pacedBytes).toBeGreaterThan(16 * COINS.length * BYTES)
})

test('serves a late waiter from the running scan, then sends what it missed', async () => {
  let later: Promise<boolean> | undefined
  during = () => {
    if (handed.length === 30) later = scan.serve(waiter('later', COINS))
  }
  expect(await scan.serve(waiter('first', COINS))).toBe(true)
  expect(await later).toBe(true)
  expect(coinsOf('later').sort()).toEqual([...COINS].sort())
  // What both lacked was read once.
  expect(fetches.length).toBeLessThan(18)
})

test('few coins do not wait behind full markets', async () => {
  const full = scan.serve(waiter('whole', COINS))
  await scan.serve(waiter('quick', ['C99'], { isQuick: true }))
  expect(coinsOf('whole').length).toBeLessThan(3 * perAnswer)
  expect(await full).toBe(true)
})

test('a blocked waiter delays nobody, and gets the rest later', async () => {
  const slow = waiter('slow', COINS, {}, () => (clock.nowMs < 5000 ? 5000 - clock.nowMs : 0))
  const served = scan.serve(slow)
  await scan.serve(waiter('fast', COINS))
  expect(clock.nowMs).toBeLessThan(5000)
  expect(await served).toBe(true)
  expect(clock.nowMs).toBe(5000)
  expect(coinsOf('slow').sort()).toEqual([...COINS].sort())
})

test('does not read books repeatedly for a waiter that cannot receive any', async () => {
  let read = 0
  const waitMs = () => {
    if (clock.nowMs >= 60_000) return 0
    read = fetches.length
    return 50
  }
  await scan.serve(waiter('stuck', COINS, {}, waitMs))
  expect(read).toBeLessThanOrEqual(2)
})

test('serves a new waiter within seconds while another is blocked', async () => {
  let next: Promise<number> | undefined
  const comes = async () => {
    await scan.serve(waiter('next', ['C99'], { isQuick: true }))
    return clock.nowMs
  }
  waits = () => {
    next ??= comes()
  }
  const waitMs = () => Math.max(0, 9000 - clock.nowMs)
  await scan.serve(waiter('waiting', COINS, {}, waitMs))
  expect(await next).toBeLessThan(3000)
})

test('waits for a reader that is fast enough, so that a coin is read once for all', async () => {
  // Each may get a snapshot every 100 ms, at different times.
  const lastMs = new Map<number, number>()
  const riders = Array.from({ length: 8 }, (_, index) => {
    const waitMs = () => {
      const left = (lastMs.get(index) ?? -100 + index) + 100 - clock.nowMs
      if (left <= 0) lastMs.set(index, clock.nowMs)
      return Math.max(0, left)
    }
    return waiter(`r${index}`, COINS, {}, waitMs)
  })
  await Promise.all(riders.map((one) => scan.serve(one)))
  for (const { key } of riders) expect(coinsOf(key).sort()).toEqual([...COINS].sort())
  expect(fetches.length).toBeLessThanOrEqual(3 + COINS.length / perAnswer)
})

test('serves a coin without a book from its first change', async () => {
  const one = waiter('one', ['C1', 'gone'])
  expect(await scan.serve(one)).toBe(true)
  const entry = { mark: '+' as const, coin: 'gone', prevSeq: -1, levels: '[[],[]]' }
  expect(one.joiner.push({ height: 2, time: 0, epoch: 'e', updates: [entry] }).texts).toHaveLength(1)
})

test('releases the waiters of an unresponsive hub, and those that left', async () => {
  answers = false
  const left = waiter('left', COINS)
  const both = [scan.serve(waiter('one', COINS)), scan.serve(left)]
  left.joiner.abandon()
  expect(await Promise.all(both)).toEqual([false, true])
  answers = true
  expect(await scan.serve(waiter('next', COINS))).toBe(true)
})
