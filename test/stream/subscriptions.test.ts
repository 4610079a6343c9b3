// The order of a subscription's steps, against hubs and a meter that a test holds in its hands.

import { beforeEach, expect, test } from 'vitest'
import type { BookSnapshot, JoinAnswer } from '../../src/book/hub-api.ts'
import type { CoinMark } from '../../src/book/hub-link.ts'
import { marketTypeOf, shardOf } from '../../src/core/coin.ts'
import type { Charge, ChargeAnswer } from '../../src/credit/meter-api.ts'
import type { Identity } from '../../src/key/identity.ts'
import { BookFanout } from '../../src/stream/book-fanout.ts'
import { Connection } from '../../src/stream/connection.ts'
import { EventFanout } from '../../src/stream/event-fanout.ts'
import { Settlement } from '../../src/stream/settlement.ts'
import { Subscriptions } from '../../src/stream/subscriptions.ts'

const SHARDS = 2
const identity: Identity = { v: 1, account: 'acme', keyHash: 'k', kind: 'api', plan: 'entry', products: ['stream'] }
// biome-ignore lint/suspicious/noExplicitAny: frames of a test are looked into freely.
type Frame = any

/** Hubs that hold these coins, a meter with a balance, one socket. */
class World {
  clock = { nowMs: 1_000_000 }
  height = 10
  coins = ['BTC', 'ETH', 'SOL', '@1']
  ready = true
  balance = 100_000_000
  revoked = false
  meterDown = 0
  /** Called while a hub is asked to join: the time in which other things happen. */
  during: () => void = () => undefined
  /** Snapshots per answer of a hub. */
  perAnswer = 100
  readonly charges: Charge[] = []
  readonly log: string[] = []
  readonly frames: Frame[] = []
  closed: number | null = null
  readonly books = new BookFanout<Connection>(SHARDS)
  readonly events = new EventFanout<Connection>()
  readonly connection: Connection
  readonly subscriptions: Subscriptions
  readonly settlement: Settlement

  constructor() {
    const sink = {
      send: (text: string) => {
        const frame: Frame = JSON.parse(text)
        this.frames.push(frame)
        this.log.push(frame.data?.Snapshot ? `Snapshot ${frame.data.Snapshot.coin}` : frame.channel)
      },
      close: (code: number) => {
        this.closed = code
      },
    }
    this.connection = new Connection('c', identity, sink, this.clock, (ended) => this.subscriptions.ended(ended))
    const charge = async (_: string, asked: Charge) => this.#charge(asked)
    const ports = {
      relay: 'relay',
      shards: SHARDS,
      clock: this.clock,
      books: {
        ensure: async () => undefined,
        join: async (hub: number, coins: readonly string[]) => this.#join(hub, coins),
        joinTypes: async (hub: number, types: readonly string[]) => ({
          coins: this.coins.filter((coin) => shardOf(coin, SHARDS) === hub && types.includes(marketTypeOf(coin))),
        }),
      },
      newId: () => `s${this.charges.length}`,
      wait: async (ms: number) => {
        this.clock.nowMs += ms
      },
      ensureEvents: async () => undefined,
      charge,
      saved: () => undefined,
      dropped: () => undefined,
    }
    this.subscriptions = new Subscriptions(ports, this.books, this.events)
    const chargeAll = async (_: string, charges: readonly Charge[]) => Promise.all(charges.map((c) => this.#charge(c)))
    this.settlement = new Settlement({ relay: 'relay', clock: this.clock, chargeAll }, this.subscriptions)
  }

  #join(hub: number, coins: readonly string[]): JoinAnswer {
    this.during()
    if (!this.ready) return { v: 1, ready: false, snapshots: [], unknown: [], rest: coins }
    const known = coins.filter((coin) => this.coins.includes(coin) && shardOf(coin, SHARDS) === hub)
    const snapshot = (coin: string): BookSnapshot => {
      return { coin, time: 0, height: this.height, epoch: 'e', seq: this.height, levels: '[[],[]]' }
    }
    return {
      v: 1,
      ready: true,
      snapshots: known.slice(0, this.perAnswer).map(snapshot),
      unknown: coins.filter((coin) => !this.coins.includes(coin)),
      rest: known.slice(this.perAnswer),
    }
  }

  #charge(asked: Charge): ChargeAnswer {
    if (this.meterDown-- > 0) throw new Error('the meter is down')
    this.log.push('charge')
    if (this.revoked) return { v: 1, ok: false, reason: 'revoked' }
    const repeated = this.charges.some(({ id }) => id === asked.id)
    if (!repeated && this.balance < asked.amount)
      return { v: 1, ok: false, reason: 'exhausted', remaining: this.balance }
    if (!repeated) this.balance -= asked.amount
    this.charges.push(asked)
    return { v: 1, ok: true, remaining: this.balance, repeated }
  }

  subscribe(subscription: { type: string } & Record<string, unknown>): Promise<void> {
    return this.subscriptions.subscribe(this.connection, { method: 'subscribe', subscription })
  }

  unsubscribe(subscription: { type: string }): void {
    this.subscriptions.unsubscribe(this.connection, { method: 'unsubscribe', subscription })
  }

  block(coins: readonly string[], mark: CoinMark = '='): void {
    this.height++
    for (let hub = 0; hub < SHARDS; hub++) {
      const own = coins.filter((coin) => shardOf(coin, SHARDS) === hub)
      const entries = own.map((coin) => ({ mark, coin, prevSeq: 0, levels: '[[],[]]' }))
      this.books.push(hub, { v: 1, epoch: 'e', height: this.height, time: 0, coins: entries }, this.clock.nowMs)
    }
  }

  updates(): [number, string[]][] {
    return this.frames
      .filter(({ data }) => data?.Updates)
      .map(({ data }) => [data.Updates.block_height, data.Updates.book_diffs.map((d: Frame) => d.coin).sort()])
  }
}

let world: World
beforeEach(() => {
  world = new World()
})

test('the charge comes before the ack, the ack before the Snapshots, these before what came meanwhile', async () => {
  world.during = () => world.block(['BTC', 'ETH'])
  await world.subscribe({ type: 'l2BookDiff', coin: ['BTC', 'ETH'] })
  world.during = () => undefined
  world.block(['BTC'])
  expect(world.log.slice(0, 2)).toEqual(['charge', 'subscriptionResponse'])
  expect(world.log.slice(2, 4).sort()).toEqual(['Snapshot BTC', 'Snapshot ETH'])
  const from = new Map(
    world.frames.flatMap(({ data }) => (data?.Snapshot ? [[data.Snapshot.coin, data.Snapshot.block_height]] : [])),
  )
  for (const [height, coins] of world.updates())
    for (const coin of coins) expect(height).toBeGreaterThan(from.get(coin))
  expect(world.updates().at(-1)).toEqual([world.height, ['BTC']])
})

test('books that come in several answers are all sent, each once', async () => {
  world.perAnswer = 1
  world.coins = Array.from({ length: 20 }, (_, i) => `C${i}`)
  await world.subscribe({ type: 'l2BookDiff' })
  const coins = world.frames.flatMap(({ data }) => data?.Snapshot?.coin ?? [])
  expect(coins.sort()).toEqual([...world.coins].sort())
  world.frames.length = 0
  await world.subscribe({ type: 'l2BookDiff', coin: world.coins })
  expect(world.frames.flatMap(({ data }) => data?.Snapshot?.coin ?? []).sort()).toEqual([...world.coins].sort())
})

test('hubs without books are waited for, then the client is told to try again, uncharged', async () => {
  let asked = 0
  world.ready = false
  world.during = () => {
    if (++asked > 4) world.ready = true
  }
  await world.subscribe({ type: 'l2BookDiff', coin: 'BTC' })
  expect(world.log).toEqual(['charge', 'subscriptionResponse', 'Snapshot BTC'])
  world.during = () => undefined
  world.ready = false
  await world.subscribe({ type: 'l2BookDiff2', coin: 'ETH' })
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unavailable' })
  expect(world.charges).toHaveLength(1)
})

test('nothing stays behind of a refused subscription', async () => {
  world.balance = 0
  for (const coin of ['BTC', 'nope']) await world.subscribe({ type: 'l2BookDiff', coin })
  await world.subscribe({ type: 'allFills' })
  expect(world.frames.map(({ code }) => code)).toEqual(['credits_exhausted', 'not_found', 'credits_exhausted'])
  expect([world.subscriptions.size, world.books.size, world.events.size]).toEqual([0, 0, 0])
})

test('a charge whose answer was lost is sent again with the same id', async () => {
  world.meterDown = 1
  await world.subscribe({ type: 'allFills' })
  expect(world.log).toEqual(['charge', 'subscriptionResponse'])
  world.meterDown = 2
  await world.subscribe({ type: 'allFills', coin: 'BTC' })
  expect(world.frames.at(-1)).toMatchObject({ code: 'unavailable' })
})

test('a socket that closes while it subscribes leaves nothing behind, and its minute waits for its return', async () => {
  world.during = () => world.connection.gone()
  await world.subscribe({ type: 'l2BookDiff', coin: 'BTC' })
  expect([world.subscriptions.size, world.books.size, world.frames.length]).toEqual([0, 0, 0])
})

test('another wildcard takes over minute and books; only added coins get Snapshots, and nothing twice', async () => {
  await world.subscribe({ type: 'l2BookDiff' })
  world.block(['BTC'])
  world.frames.length = 0
  world.during = () => world.block(['BTC', '@1'])
  await world.subscribe({ type: 'l2BookDiff', marketTypes: ['perp', 'spot'] })
  world.during = () => undefined
  world.block(['BTC', '@1'])
  expect(world.charges).toHaveLength(1)
  expect(world.frames.flatMap(({ data }) => data?.Snapshot?.coin ?? [])).toEqual(['@1'])
  const btc = world.updates().flatMap(([height, coins]) => (coins.includes('BTC') ? [height] : []))
  expect(btc).toEqual([...new Set(btc)])
  expect(btc).toEqual(Array.from({ length: world.height - 11 }, (_, i) => 12 + i))
  // Narrower again: no Snapshot, and spot is gone.
  world.frames.length = 0
  await world.subscribe({ type: 'l2BookDiff', marketTypes: ['perp'] })
  world.block(['BTC', '@1'])
  expect(world.updates()).toEqual([[world.height, ['BTC']]])
  expect(world.subscriptions.size).toBe(1)
})

test('the same body on two sockets, and an unsubscribe of one, leave the other served', async () => {
  await world.subscribe({ type: 'l2BookDiff2', coin: 'BTC' })
  await world.subscribe({ type: 'l2BookDiff2', coin: ['BTC'] })
  world.unsubscribe({ type: 'l2BookDiff2', coin: 'BTC' } as { type: string })
  world.block(['BTC'])
  expect(world.updates()).toEqual([[world.height, ['BTC']]])
})

test('further minutes: one settlement, a warning when the next is not covered, then 4402', async () => {
  world.balance = 2_500_000
  await world.subscribe({ type: 'allFills' })
  await world.settlement.run()
  expect(world.charges).toHaveLength(1)
  world.clock.nowMs += 60_000
  await world.settlement.run()
  await world.settlement.run()
  expect(world.charges.map(({ id }) => id)).toEqual(['relay/s0/0', 'relay/s0/1'])
  expect(world.frames.at(-1)).toMatchObject({ channel: 'notification' })
  world.clock.nowMs += 60_000
  await world.settlement.run()
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'credits_exhausted' })
  expect(world.closed).toBe(4402)
  expect([world.subscriptions.size, world.subscriptions.minutes.size]).toEqual([0, 0])
})

test('a first minute that takes all but less than another is warned of at once, after the ack', async () => {
  world.balance = 1_900_000
  world.connection.enqueue(() => world.subscribe({ type: 'allFills' }))
  await world.connection.drained()
  await world.connection.drained()
  expect(world.log).toEqual(['charge', 'subscriptionResponse', 'notification'])
})

test('a meter that is down: the stream runs on for a minute, then the socket goes with 1013', async () => {
  await world.subscribe({ type: 'allFills' })
  world.meterDown = 100
  world.clock.nowMs += 60_000
  await world.settlement.run()
  expect(world.closed).toBeNull()
  world.clock.nowMs += 60_000
  await world.settlement.run()
  expect(world.closed).toBe(1013)
})

test('a revoked key is closed with 4401 by the next settlement', async () => {
  await world.subscribe({ type: 'allFills' })
  world.revoked = true
  world.clock.nowMs += 60_000
  await world.settlement.run()
  expect(world.closed).toBe(4401)
})

test('at most 1,000 subscriptions on a socket', async () => {
  world.balance = 10_000_000_000
  for (let i = 0; i < 1001; i++) await world.subscribe({ type: 'allFills', coin: `C${i}` })
  expect(world.frames.at(-1)).toMatchObject({ channel: 'error', code: 'rate_limited' })
  expect(world.subscriptions.size).toBe(1000)
})
