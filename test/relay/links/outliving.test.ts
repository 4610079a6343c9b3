// State of a relay that outlives a link: for each piece, the link ends, the feed restarts with lower heights, and the
// link returns. Every update of the new chain must arrive.

import { expect, test } from 'vitest'
import { shardOf } from '../../../src/core/coin.ts'
import type { BlockLogApi, RelayEvents } from '../../../src/protocol/feed/log-api.ts'
import type { BookHubApi, RelayAttachRequest } from '../../../src/protocol/hub/hub-api.ts'
import type { BookFanout } from '../../../src/relay/books/book-fanout.ts'
import { Joiner } from '../../../src/relay/books/joiner.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { l2BookDiff } from '../../../src/relay/channels/level-diffs.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { L4Fanout } from '../../../src/relay/l4/l4-fanout.ts'
import { Links } from '../../../src/relay/links/links.client.ts'
import type { Connection } from '../../../src/relay/sockets/connection.ts'
import { booksTarget, eventsTarget } from '../targets.ts'

const SHARDS = 2
/** One coin of each hub. */
const COINS = [0, 1].map(
  (hub) => ['BTC', 'ETH', 'SOL', 'DOGE', 'XRP', 'AVAX', 'LINK'].find((coin) => shardOf(coin, SHARDS) === hub)!,
)

/** A relay's links and fan-outs, with a scripted log and hubs. */
class Relay {
  nowMs = 1000
  /** Positions of the log and the hubs, reported on attach. */
  chain: { epoch: string | null; height: number | null; lost?: boolean } = { epoch: 'old', height: 1000 }
  isDown = false
  readonly attached: string[] = []
  readonly interests: string[][] = []
  readonly sockets = new Map<string, WebSocket>()
  readonly events = new EventFanout<Connection>(CHANNELS)
  readonly links: Links
  readonly books: BookFanout<Connection>

  /** Texts sent on its links. */
  readonly said: string[] = []

  constructor() {
    const log = { attach: async () => this.#attach('log') } as unknown as BlockLogApi
    const hubs = Array.from({ length: SHARDS }, (_, index) => {
      const attach = async ({ interest }: RelayAttachRequest) => {
        this.interests.push([...interest.coins])
        return this.#attach(`hub ${index}`)
      }
      const setInterest = async (_: string, { coins }: RelayAttachRequest['interest']) => {
        this.interests.push([...coins])
      }
      return { attach, setInterest } as unknown as BookHubApi
    })
    const ports = { relay: 'r', shards: SHARDS, log: () => log, hub: (index: number) => hubs[index]! }
    const followers = { events: this.events, states: { needsBlocks: false }, l4: new L4Fanout<Connection>() }
    this.links = new Links({ ...ports, clock: this }, followers)
    this.books = this.links.books
  }

  #attach(writer: string) {
    if (this.isDown) throw new Error('down')
    const socket = { close: () => undefined, send: (text: string) => this.said.push(text) } as unknown as WebSocket
    this.sockets.set(writer, socket)
    this.attached.push(writer)
    const link = writer === 'log' ? this.links.log : this.links.hubs[Number(writer.slice(4))]!.link
    link.accept(socket, this.nowMs)
    return { v: 1, lost: false, from: 0, coins: [], ...this.chain }
  }

  /** A block of all hubs in which every coin changes. */
  block(height: number, epoch: string | null = this.chain.epoch, hubs = [0, 1]): void {
    for (const hub of hubs) {
      const coins = [{ mark: '=' as const, coin: COINS[hub]!, prevSeq: height - 1, levels: '[[],[]]' }]
      const socket = this.sockets.get(`hub ${hub}`)!
      if (this.links.hubs[hub]!.link.admit(socket, height, epoch, this.nowMs))
        this.books.push(hub, { v: 1, epoch, height, time: height, coins }, this.nowMs)
    }
  }

  event(height: number, epoch: string | null = null, chars = 100): void {
    const frame: RelayEvents = { v: 1, t: 'events', epoch, height, time: height, fills: FILLS, ledger: [] }
    if (this.links.acceptsFromLog(this.sockets.get('log')!, frame, chars, this.nowMs)) this.events.deliver(frame)
  }

  async ensure(): Promise<void> {
    for (const { link } of this.links.hubs) await link.ensure()
  }

  startOver(height: number, epoch = 'new'): void {
    this.chain = { epoch, height }
  }
}

const HALF = { coin: 'BTC', px: '1', sz: '1', time: 1, tid: 1, hash: '0x' }
const FILLS = [
  ['0xa', { ...HALF, side: 'B', crossed: true }],
  ['0xb', { ...HALF, side: 'A', crossed: false }],
] as unknown as RelayEvents['fills']

function socket() {
  const heights: number[] = []
  const why: string[] = []
  const connection = {
    send: (text: string) => void heights.push(JSON.parse(text).data?.Updates?.block_height ?? text),
    breakBooks: (reason: string) => void why.push(reason),
  } as unknown as Connection
  return { connection, heights, why }
}
const all = (coins = COINS) => booksTarget({ type: 'l2BookDiff', coin: coins })
/** A socket with these coins on live links. */
async function joined(relay: Relay, key = 'all', coins = COINS) {
  const one = socket()
  relay.books.add(key, all(coins), one.connection)
  await relay.ensure()
  return one
}
/** Its body ends, and the relay drops unneeded links. */
function leaves(relay: Relay, { connection }: ReturnType<typeof socket>, key = 'all'): void {
  relay.books.remove(key, connection)
  relay.links.check(relay.nowMs, { sockets: 1, subscriptions: 1 })
}
/** The links to both hubs break. */
function breaks(relay: Relay): void {
  for (const hub of [0, 1]) relay.links.hubs[hub]!.link.onClosed(relay.sockets.get(`hub ${hub}`)!)
}

test('reports to the log what it read, a quarter MiB at a time', async () => {
  const relay = new Relay()
  await relay.links.log.ensure()
  const sent = [200, 100, 100].map((kib, height) => {
    relay.event(height + 1, null, kib * 1024)
    return relay.said.map(Number).filter((chars) => chars > 0)
  })
  expect(sent).toEqual([[], [300 * 1024], [300 * 1024]])
})

test('the height of a hub: a relay whose link was dropped gets every update after a reset', async () => {
  const relay = new Relay()
  const first = await joined(relay)
  for (const height of [1001, 1002]) relay.block(height)
  leaves(relay, first)
  expect(relay.links.isUp).toBe(false)
  relay.startOver(4)
  const second = await joined(relay)
  for (const height of [5, 6, 7]) relay.block(height)
  expect(first.heights).toEqual([1001, 1002])
  expect(second.heights).toEqual([5, 6, 7])
})

// WS-108
test('blocks are expected with book or event subscriptions, but not for states alone', () => {
  const relay = new Relay()
  const { connection } = socket()
  const needed = () => relay.links.isNeeded
  expect(needed()).toBe(false)
  relay.books.add('all', all(), connection)
  expect(needed()).toBe(true)
  relay.books.remove('all', connection)
  relay.events.add('fills', eventsTarget({ type: 'allFills' }), false, connection)
  expect(needed()).toBe(true)
  relay.events.remove('fills', connection)
  expect(needed()).toBe(false)
})

test('the height of one of two hubs while the other link lives', async () => {
  const relay = new Relay()
  const stable = await joined(relay, 'kept', [COINS[0]!])
  const both = await joined(relay)
  relay.block(1001)
  leaves(relay, both)
  expect([0, 1].map((hub) => relay.links.hubs[hub]!.link.isUp)).toEqual([true, false])
  relay.startOver(4)
  relay.block(5, 'new', [0])
  const later = await joined(relay)
  for (const height of [6, 7]) relay.block(height)
  expect(stable.heights).toEqual([1001, 5, 6, 7])
  expect(later.heights).toEqual([6, 7])
  expect(later.why).toEqual([])
})

test('the join of a group (reported, emitted, pending, late): hubs that restart one after another', async () => {
  const relay = new Relay()
  const one = await joined(relay)
  relay.block(1001)
  // One hub is ahead and the other late when the chain ends.
  relay.block(1002, 'old', [0])
  relay.nowMs += 1000
  relay.books.tick(relay.nowMs)
  relay.block(1003, 'old', [0])
  one.heights.length = 0
  breaks(relay)
  relay.startOver(4)
  await relay.ensure()
  relay.block(5, 'new', [1])
  relay.block(5, 'new', [0])
  relay.block(6, 'new', [1, 0])
  // Its books are reported broken. An immediate resubscribe misses nothing.
  expect(one.why).toContain('continuity')
  expect(one.heights).toEqual([5, 6])
})

test('the cursor of a broken link: lower heights, a shorter chain, one without books', async () => {
  for (const chain of [
    { epoch: 'new', height: 4 },
    { epoch: null, height: 4 },
    { epoch: null, height: null },
  ]) {
    const relay = new Relay()
    const one = await joined(relay)
    relay.block(1001)
    breaks(relay)
    relay.chain = chain
    await relay.ensure()
    for (const height of [5, 6]) relay.block(height, 'new')
    expect(one.heights).toEqual([1001, 5, 6])
    expect(one.why).toContain('continuity')
  }
})

test('the cursor of a broken link that is no longer needed', async () => {
  const relay = new Relay()
  const first = await joined(relay)
  relay.block(1001)
  relay.isDown = true
  breaks(relay)
  await expect(relay.ensure()).rejects.toThrow('down')
  leaves(relay, first)
  relay.isDown = false
  relay.startOver(4)
  const second = await joined(relay)
  // A high first height is no loss, because there was nothing to continue.
  for (const height of [50, 51]) relay.block(height)
  expect(second.heights).toEqual([50, 51])
  expect(second.why).toEqual([])
})

test('remembered epochs: a known epoch counts again on a new link', async () => {
  const relay = new Relay()
  const first = await joined(relay)
  relay.block(1001)
  relay.block(1002, 'between')
  leaves(relay, first)
  relay.startOver(4, 'old')
  const second = await joined(relay)
  for (const height of [5, 6]) relay.block(height)
  expect(second.heights).toEqual([5, 6])
})

test('the floors of a joiner: a receiver served alone over a reset is notified, and joins the new chain', async () => {
  const relay = new Relay()
  const one = socket()
  const joinerAt = (height: number) => {
    const joiner = new Joiner(l2BookDiff, SHARDS)
    for (const coin of COINS) joiner.onSnapshot({ coin, height })
    joiner.markSeeded()
    return joiner
  }
  relay.books.add('all', all(), one.connection, joinerAt(1005))
  await relay.ensure()
  relay.block(1001)
  relay.startOver(4)
  relay.block(5)
  expect(one.why).toContain('continuity')
  relay.books.remove('all', one.connection)
  relay.books.add('all', all(), one.connection, joinerAt(6))
  for (const height of [6, 7, 8]) relay.block(height)
  expect(one.heights).toEqual([7, 8])
  expect(relay.books.joinerOf('all', one.connection)).toBeUndefined()
})

test('recorded batches of a snapshot in flight: the old chain is not sent after the new one', async () => {
  const relay = new Relay()
  const one = socket()
  relay.books.add('all', all(), one.connection, new Joiner(l2BookDiff, SHARDS))
  await relay.ensure()
  relay.books.startRecording(COINS)
  relay.block(1001)
  relay.startOver(4)
  for (const height of [5, 6]) relay.block(height)
  relay.books.remove('all', one.connection)
  const joiner = new Joiner(l2BookDiff, SHARDS)
  joiner.expect(COINS)
  relay.books.add('all', all(), one.connection, joiner)
  for (const coin of COINS) relay.books.deliverSnapshot('all', one.connection, { coin, height: 5 }, '{"data":{}}')
  joiner.markSeeded()
  relay.block(7)
  expect(one.heights.filter((height) => typeof height === 'number')).toEqual([6, 6, 7])
})

test('the interest of a hub is active again on the new link', async () => {
  const relay = new Relay()
  const one = socket()
  relay.books.add('first', all([COINS[0]!]), one.connection)
  await relay.links.hubs[0]!.link.ensure()
  relay.books.remove('first', one.connection)
  relay.links.check(relay.nowMs, { sockets: 1, subscriptions: 1 })
  relay.books.add('first', all([COINS[0]!]), one.connection)
  await relay.links.hubs[0]!.link.ensure()
  expect(relay.interests).toEqual([[COINS[0]], [COINS[0]]])
  relay.books.remove('first', one.connection)
  const other = socket()
  relay.books.add('types', booksTarget({ type: 'l2BookDiff', marketTypes: ['spot'] }), other.connection)
  await relay.links.hubs[0]!.syncInterest()
  expect(relay.interests.at(-1)).toEqual([])
})

test('the cursor of the log link: dropped or broken while the log restarts', async () => {
  const relay = new Relay()
  const first = socket()
  const second = socket()
  const trades = eventsTarget({ type: 'trades', coin: 'BTC' })
  relay.events.add('trades', trades, false, first.connection)
  await relay.links.log.ensure()
  relay.event(1001)
  relay.events.remove('trades', first.connection)
  relay.links.check(relay.nowMs, { sockets: 1, subscriptions: 1 })
  relay.startOver(4)
  relay.events.add('trades', trades, false, second.connection)
  await relay.links.log.ensure()
  for (const height of [5, 6]) relay.event(height)
  expect(second.heights).toHaveLength(2)
  relay.startOver(1, 'third')
  relay.links.log.onClosed(relay.sockets.get('log')!)
  await relay.links.log.ensure()
  const before = second.heights.length
  for (const height of [2, 3]) relay.event(height)
  expect(second.heights).toHaveLength(before + 2)
})

test('the cursor of the log link: another chain, detected by its frames', async () => {
  const relay = new Relay()
  const one = socket()
  relay.events.add('trades', eventsTarget({ type: 'trades', coin: 'BTC' }), false, one.connection)
  await relay.links.log.ensure()
  for (const height of [1001, 1002]) relay.event(height, 'old')
  relay.event(1002, 'old')
  relay.event(1002)
  expect(one.heights).toHaveLength(2)
  relay.event(5, 'new')
  expect(one.heights.slice(2)).toEqual([expect.stringContaining('heights'), expect.anything()])
})
