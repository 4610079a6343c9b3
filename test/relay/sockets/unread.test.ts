import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SocketUnread } from '../../../src/relay/sockets/unread.ts'
import {
  HEAVY,
  IsolateRelays,
  LIGHT,
  MAX_STRANDED_BYTES,
  RelayUnread,
  type UnreadRules,
  WATERMARK_BYTES,
} from '../../../src/relay/sockets/unread.ts'

const MIB = 1024 * 1024
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A client at a relay with a check every five seconds; `reads`: bytes it reads of its queue. */
class Client {
  readonly #relay: RelayUnread
  readonly #account: string
  readonly reading: SocketUnread
  open = true
  /** Bytes that the platform holds for it. */
  held = 0
  constructor(relay: RelayUnread, account: string, nowMs = 0) {
    this.#relay = relay
    this.#account = account
    this.reading = relay.add(account, () => this.close(nowMs))
  }
  send(bytes: number, nowMs: number, reads = false): void {
    if (!this.open) return
    if (!this.reading.countSend(bytes)) return this.close(nowMs)
    if (!reads) this.held += bytes
  }
  close(nowMs: number): void {
    this.open = false
    this.#relay.markMoved(this.#account, nowMs)
    this.reading.onEnded()
  }
}

/** A ping with a nonce. Returns the nonce of its pong. */
function ping(reading: SocketUnread, nonce: string, fresh: string, nowMs: number): string {
  reading.onNonce(nonce, nowMs)
  return reading.nextNonce(fresh, nowMs)
}

/** A client that proves all its reading. */
const prove = (reading: SocketUnread, nowMs = 0) =>
  ping(reading, ping(reading, '', `${nowMs}a`, nowMs), `${nowMs}b`, nowMs)
const sumOf = (clients: readonly Client[], of: (client: Client) => number) =>
  clients.reduce((sum, client) => sum + of(client), 0)

// WS-60
test('a proof covers what was sent before its pong, in any order, once, and cannot be guessed', () => {
  const relay = new RelayUnread(LIGHT, 0)
  const reading = relay.add('a', () => undefined)
  reading.countSend(100)
  expect(ping(reading, '', 'one', 0)).toBe('one')
  reading.countSend(10)
  ping(reading, '', 'two', 0)
  reading.countSend(1)
  expect([reading.bytes, reading.isProving(0)]).toEqual([111, false])
  ping(reading, 'one', 'three', 0)
  expect([reading.bytes, relay.live, reading.isProving(59_999), reading.isProving(60_000)]).toEqual([
    11,
    11,
    true,
    false,
  ])
  ping(reading, 'one', 'four', 0)
  ping(reading, 'guess', 'five', 0)
  expect(reading.bytes).toBe(11)
  ping(reading, 'two', 'six', 0)
  expect(reading.bytes).toBe(1)
})

test('old nonces do not prove later reading', () => {
  const reading = new RelayUnread(HEAVY, 0).add('a', () => undefined)
  const nonces = Array.from({ length: 16 }, (_, i) => ping(reading, '', `n${i}`, 0))
  reading.countSend(17 * MIB)
  ping(reading, nonces[0]!, 'a', 59_000)
  expect(reading.isProving(118_000)).toBe(true)
  ping(reading, nonces[1]!, 'b', 118_000)
  expect([reading.isProving(119_000), reading.bytes]).toEqual([false, 17 * MIB])
})

test('a client that never returns a nonce makes the relay store sixteen', () => {
  const reading = new RelayUnread(LIGHT, 0).add('a', () => undefined)
  const pongs = Array.from({ length: 1000 }, (_, i) => {
    reading.countSend(1)
    return ping(reading, '', `n${i}`, 0)
  })
  expect(new Set(pongs).size).toBe(16)
  ping(reading, pongs.at(-1)!, 'next', 0)
  // The newest pong's nonce proves what was sent before it.
  expect(reading.bytes).toBe(984)
})

test('account and relay counts equal the sums of their sockets after any sequence of events', () => {
  const whats = ['send', 'prove', 'forgive', 'leave', 'go', 'relieve'] as const
  const step = fc.record({ who: fc.nat(5), what: fc.constantFrom(...whats), bytes: fc.nat(8 * MIB) })
  const inTurn = (...turn: (typeof whats)[number][]) => [turn.map((what) => ({ who: 1, what, bytes: 1 }))] as const
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const relay = new RelayUnread(LIGHT, 0)
      const clients = Array.from({ length: 6 }, (_, i) => new Client(relay, `a${i % 3}`))
      const closed = new Set<Client>()
      let nowMs = 0
      for (const { who, what, bytes } of steps) {
        nowMs += 100
        const client = clients[who]!
        if (what === 'send') client.send(bytes, nowMs)
        else if (what === 'prove') prove(client.reading, nowMs)
        else if (what === 'forgive') relay.presumeRead(nowMs)
        else if (what === 'relieve') relay.enforceWatermark(nowMs)
        else if (what === 'leave' && client.open) client.close(nowMs)
        else if (what === 'go') {
          client.reading.onClosed()
          client.open = false
          closed.add(client)
        }
        const here = clients.filter((one) => !closed.has(one))
        const live = here.filter(({ open }) => open)
        expect(relay.live).toBe(sumOf(live, ({ reading }) => reading.bytes))
        expect(relay.strandedBytes).toBe(sumOf(here, ({ reading }) => reading.bytes) - relay.live)
      }
    }),
    { examples: [[...inTurn('send', 'leave', 'prove')], [...inTurn('send', 'go', 'prove')]] },
  )
})

/**
 * An account with this many sockets that never read, each sent this much a second for this long; ended sockets are
 * replaced.
 */
function attack(rules: UnreadRules, sockets: number, perSecond: number, seconds: number) {
  const relay = new RelayUnread(rules, 0)
  let clients = Array.from({ length: sockets }, () => new Client(relay, 'hostile'))
  const all = [...clients]
  let neighbours = 0
  const neighbour = relay.add('neighbour', () => neighbours++)
  for (let second = 1; second <= seconds; second++) {
    const nowMs = second * 1000
    for (const client of clients) client.send(perSecond, nowMs)
    if (!neighbour.countSend(2048)) neighbours++
    clients = clients.filter(({ open }) => open)
    while (clients.length < sockets && !relay.isRefused('hostile', nowMs)) {
      clients.push(new Client(relay, 'hostile', nowMs))
      all.push(clients.at(-1)!)
    }
    if (second % 5 === 0) relay.presumeRead(nowMs)
    relay.enforceWatermark(nowMs)
  }
  return { held: sumOf(all, ({ held }) => held), neighbours, relay }
}

// WS-12
test.each([1, 6, 100])("%i sockets that never read hold at most twice their account's limit", (sockets) => {
  for (const perSecond of [181_000, 2 * MIB]) {
    const light = attack(LIGHT, sockets, perSecond, 600)
    expect(light.held).toBeLessThan(2 * LIGHT.bytes + sockets * perSecond)
    expect([light.neighbours, light.relay.isRefused('hostile', 600_000)]).toEqual([0, true])
    if (sockets * perSecond < 2 * HEAVY.presumedPerSecond) continue
    expect(attack(HEAVY, sockets, perSecond, 600).held).toBeLessThan(3 * HEAVY.bytes + sockets * perSecond)
  }
})

// WS-12
test.each([
  ['a thousand small sockets without proofs', LIGHT, 1000, 2_000],
  ['two wildcards without proofs at a heavy relay', HEAVY, 1, 2 * 181_000],
])('%s are never cut in eight hours', (_, rules, accounts, perSecond) => {
  const relay = new RelayUnread(rules, 0)
  let cuts = 0
  const readings = Array.from({ length: accounts }, (__, i) => relay.add(`a${i}`, () => cuts++))
  for (let nowMs = 0; nowMs < 8 * HOUR_MS; nowMs += 5000) {
    for (const reading of readings) if (!reading.countSend(perSecond * 5)) cuts++
    relay.presumeRead(nowMs)
    relay.enforceWatermark(nowMs)
  }
  expect(cuts).toBe(0)
})

test('above the watermark the largest account is cut, its larger sockets first, without affecting others', () => {
  const relay = new RelayUnread(HEAVY, 0)
  const accounts = [20, 12, 9].map((mib, i) => new Client(relay, `a${i}`).reading.countSend(mib * MIB))
  const small = new Client(relay, 'a0')
  small.send(64 * 1024, 0)
  relay.enforceWatermark(0)
  expect([accounts, relay.strandedBytes, relay.live]).toEqual([[true, true, true], 20 * MIB, 21 * MIB + 64 * 1024])
  expect(small.open).toBe(true)
  relay.enforceWatermark(0)
  expect([relay.live <= WATERMARK_BYTES, relay.isRefused('a0', 0), relay.isRefused('a1', 0)]).toEqual([
    true,
    true,
    false,
  ])
})

test('relays of an isolate share its watermark: each has what the others leave, and at least an equal share', () => {
  const isolate = new IsolateRelays()
  const relays = [1, 2].map((n) => {
    const relay = new RelayUnread(HEAVY, 0, [], isolate)
    isolate.add(`relay ${n}`, relay)
    return relay
  })
  const [first, second] = relays as [RelayUnread, RelayUnread]
  new Client(first, 'a').reading.countSend(25 * MIB)
  first.enforceWatermark(0)
  expect([first.live, second.watermark]).toEqual([25 * MIB, WATERMARK_BYTES / 2])
  new Client(second, 'b').reading.countSend(10 * MIB)
  new Client(second, 'c').reading.countSend(12 * MIB)
  second.enforceWatermark(0)
  first.enforceWatermark(0)
  expect([first.live, second.live]).toEqual([25 * MIB, 10 * MIB])
  isolate.add('relay 1', new RelayUnread(HEAVY, 0, [], isolate))
  expect(second.watermark).toBe(WATERMARK_BYTES)
})

test.each([1, 3])(
  'clients without proofs delay a large snapshot of another relay for half a minute at most (%i relays)',
  (others) => {
    const isolate = new IsolateRelays()
    const relays = Array.from({ length: 1 + others }, (_, n) => {
      const relay = new RelayUnread(HEAVY, 0, [], isolate)
      isolate.add(`relay ${n}`, relay)
      return relay
    })
    const [attacked, waiting] = relays as [RelayUnread, RelayUnread]
    const attacker = new Client(attacked, 'attacker')
    const bystanders = relays.map((relay, n) => new Client(relay, `bystander ${n}`))
    const { reading } = new Client(waiting, 'honest')
    let servedMs: number | null = null
    for (let nowMs = 0; nowMs < HOUR_MS && servedMs === null; nowMs += 250) {
      while (attacker.open && attacker.reading.snapshotWaitMs(85_000, nowMs) === 0) attacker.send(85_000, nowMs)
      prove(reading, nowMs)
      for (const { reading: proving } of bystanders) {
        proving.countSend(5_000)
        prove(proving, nowMs)
      }
      for (const relay of relays) {
        relay.presumeRead(nowMs)
        relay.enforceWatermark(nowMs)
      }
      if (nowMs > MINUTE_MS && reading.snapshotWaitMs(18_500_000, nowMs) === 0) servedMs = nowMs - MINUTE_MS
    }
    expect(servedMs).toBeLessThan(31_000)
    expect([attacker.open, ...bystanders.map(({ open }) => open)]).toEqual([false, ...bystanders.map(() => true)])
  },
)

test('stranded data restarts the relay in the end, and its accounts are remembered', () => {
  const relay = new RelayUnread(LIGHT, 0)
  for (let i = 0; !relay.isOverfull; i++) {
    const client = new Client(relay, `a${i}`)
    client.send(15 * MIB, 0)
    client.close(0)
  }
  expect(relay.strandedBytes).toBeGreaterThan(MAX_STRANDED_BYTES)
  const next = new RelayUnread(LIGHT, 1, relay.movedAccounts(1))
  expect([next.isRefused('a0', 1), next.isRefused('b', 1), next.isRefused('a0', HOUR_MS + 1)]).toEqual([
    true,
    false,
    false,
  ])
})

// WS-61
test('snapshots without proofs: a light relay moves a full wildcard, a heavy one serves a few a minute', () => {
  const one = 256 * 1024
  const light = new RelayUnread(LIGHT, 0).add('a', () => undefined)
  while (light.snapshotWaitMs(one, 0) === 0) light.countSend(one)
  expect([light.bytes, light.snapshotWaitMs(one, 0)]).toEqual([14 * MIB, expect.any(Number)])
  expect(light.snapshotWaitMs(2 * one, 0)).toBe(Number.POSITIVE_INFINITY)

  const relay = new RelayUnread(HEAVY, 0)
  const heavy = relay.add('a', () => undefined)
  let sent = 0
  for (let nowMs = 0; nowMs < 10 * 60_000; nowMs += 1000) {
    for (; heavy.snapshotWaitMs(one, nowMs) === 0; sent += one) heavy.countSend(one)
    relay.presumeRead(nowMs)
  }
  expect(sent / (28 * MIB + HEAVY.presumedPerSecond * 600)).toBeCloseTo(1, 1)
})

// WS-61
test('snapshots with proofs are sent as fast as they are read', () => {
  const reading = new RelayUnread(LIGHT, 0).add('a', () => undefined)
  let nonce = ping(reading, ping(reading, '', 'a', 0), 'b', 0)
  let most = 0
  for (let sent = 0, i = 0; sent < 100 * MIB; i++) {
    const waitMs = reading.snapshotWaitMs(300_000, i)
    if (waitMs === 0) {
      reading.countSend(300_000)
      sent += 300_000
    } else {
      expect(waitMs).toBeLessThan(100)
      nonce = ping(reading, nonce, `n${i}`, i)
    }
    most = Math.max(most, reading.bytes)
  }
  expect(most).toBeLessThan(MIB)
})

// WS-61
test('a snapshot larger than the window is sent among live changes', () => {
  const reading = new RelayUnread(LIGHT, 0).add('a', () => undefined)
  prove(reading)
  reading.countSend(20_000)
  expect(reading.snapshotWaitMs(MIB, 0)).toBe(0)
  reading.countSend(MIB)
  expect(reading.snapshotWaitMs(MIB, 0)).toBeGreaterThan(0)
})

test('an end reported twice does not affect a newer socket', () => {
  const unread = new RelayUnread(LIGHT, 0)
  const enter = () => unread.add('a', () => undefined)
  const first = enter()
  first.onClosed()
  const second = enter()
  first.onClosed()
  const third = enter()
  expect(second.countSend(0.6 * LIGHT.bytes)).toBe(true)
  expect(third.countSend(0.6 * LIGHT.bytes)).toBe(false)
})

// WS-154
test('a relay sends one large snapshot at a time; a small one does not wait for it', () => {
  const relay = new RelayUnread(HEAVY, 0)
  const [proving, plain, third] = ['a', 'b', 'c'].map((account) => new Client(relay, account)) as [
    Client,
    Client,
    Client,
  ]
  const large = 17 * MIB
  prove(proving.reading)
  for (const { reading } of [proving, plain]) expect(reading.snapshotWaitMs(large, 0)).toBe(0)
  proving.send(large, 0)
  expect([plain, third].map(({ reading }) => reading.snapshotWaitMs(large, 0) > 0)).toEqual([true, true])
  expect(plain.reading.snapshotWaitMs(MIB, 0)).toBe(0)
  prove(proving.reading, 1)
  expect(plain.reading.snapshotWaitMs(large, 1)).toBe(0)
  plain.send(large, 1)
  expect(third.reading.snapshotWaitMs(large, 2)).toBeGreaterThan(0)
  relay.presumeRead((1000 * large) / HEAVY.presumedPerSecond + 1000)
  expect(third.reading.snapshotWaitMs(large, 40_000)).toBe(0)
  third.send(large, 40_000)
  third.close(40_001)
  expect(proving.reading.snapshotWaitMs(large, 40_002)).toBe(0)
})

// WS-154
test.each([
  ['an ordinary relay', LIGHT, 10 * MIB],
  ['a heavy one', HEAVY, 17 * MIB],
])('at %s a large snapshot waits at most half a minute for an unread one', (_, rules, large) => {
  const relay = new RelayUnread(rules, 0)
  const [still, waiting] = ['a', 'b'].map((account) => new Client(relay, account)) as [Client, Client]
  prove(still.reading)
  still.send(large, 0)
  const waits = [1, 30_000, 30_001].map((nowMs) => waiting.reading.snapshotWaitMs(large, nowMs))
  expect(waits.map((ms) => ms > 0)).toEqual([true, true, false])
  waiting.send(large, 30_001)
  expect([still.open, relay.live <= WATERMARK_BYTES]).toEqual([true, true])
})

// WS-154
test('a light relay moves a client that needs more than it can ever send, even with a proof', () => {
  const { reading } = new Client(new RelayUnread(LIGHT, 0), 'a')
  prove(reading)
  expect([13 * MIB, 15 * MIB].map((bytes) => reading.snapshotWaitMs(bytes, 0))).toEqual([0, Number.POSITIVE_INFINITY])
})
