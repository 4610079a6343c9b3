// Rows of subscribed coins equal those in the node's files, and applied to a snapshot they give every later order book.
// A coin for which this is uncertain has no entry.

import { beforeEach, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { streamLine } from '../../src/devnet/exchange/node-block.ts'
import { MAINNET, type Scale, SMALL } from '../../src/devnet/exchange/scale.ts'
import { l4Snapshot } from '../../src/devnet/info/l4-snapshot.ts'
import { OrderBookProjector } from '../../src/feeder/order-book-projector.ts'
import { Pairing } from '../../src/feeder/pairing.ts'
import { Producer } from '../../src/feeder/producer.ts'
import { FeedSession } from '../../src/feeder/session.ts'
import { coinNameOf, l4Frames, SnapshotScanner } from '../../src/feeder/snapshot-file.ts'
import { readLineHead, type StreamName } from '../../src/feeder/streams.ts'
import type { Block } from '../../src/protocol/feed/block.ts'
import { PartJoiner } from '../../src/protocol/feed/parts.ts'
import { BlockFrame, FeederFrame, type L4Book } from '../../src/protocol/feed/protocol.ts'
import { DIFFS, FILLS, readLines, readSnapshot, STATUSES, WIRES } from '../fixtures/wire.ts'
import { L4Client } from './l4-client.ts'

let session: FeedSession
let producer: Producer
let pairing: Pairing
let said: string[]
let reads: readonly StreamName[]

/** A feeder whose first block to send has the height `next`. */
function begin(next: number, streams: readonly StreamName[] = ['diffs', 'fills', 'statuses'], readFrom = next): void {
  session = new FeedSession()
  session.onOpen({ chain: 'c', feeder: 'f', first: 1, head: 9 }, 0)
  reads = streams
  pairing = new Pairing(readFrom, null, streams)
  said = []
  producer = new Producer(new OrderBookProjector(), session, { take: () => null }, (sentence) => said.push(sentence))
  session.onFrame({ type: 'welcome', epoch: 'e', height: next - 1 }, 0)
  session.startFrom(next, false, null)
}

function want(add: string[], drop: string[] = []): void {
  session.onFrame({ type: 'want', orders: { add: [], drop: [] }, l4: { add, drop } }, 0)
}

function push(stream: StreamName, text: string): void {
  pairing.push(stream, readLineHead(text)!, 0)
}

/** Processes the next block, in steps between which `between` is called. */
function take(between: () => void = () => {}): void {
  for (const stream of ['statuses', 'misc'] as const)
    if (reads.includes(stream)) pairing.onEnd(stream, Number.POSITIVE_INFINITY)
  const paired = pairing.take()
  if (!paired || paired === 'started_over') throw new Error('no block is due')
  const steps = producer.accept(paired)
  while (!steps.next().done) between()
}

/** The same, and returns what is sent of it. */
function pass(between?: () => void): BlockFrame {
  take(between)
  const joiner = new PartJoiner()
  const texts = session.drain(0, 1e9).filter((text) => text.startsWith('{"type":"block"'))
  return texts.map((text) => joiner.push(BlockFrame.parse(JSON.parse(text)))).at(-1) as BlockFrame
}

interface Row {
  readonly coin?: string
  readonly order?: { readonly coin: string }
}
const eventsOf = (line: string) => (JSON.parse(line) as { events: Row[] }).events

/** Compares sent blocks with their lines, and the order books built from them with the node's. */
function follow(
  coins: readonly string[],
  snapshot: string,
  blocks: Iterable<{ diffs: string; statuses: string; fills: string }>,
): Map<string, L4Client> {
  const clients = new Map(coins.map((coin) => [coin, new L4Client(coin)]))
  const scanner = new SnapshotScanner()
  const texts = new Map(scanner.push(snapshot).map((text) => [coinNameOf(text), text]))
  const height = scanner.height!
  begin(height + 1)
  want([...coins])
  for (const lines of blocks) {
    for (const stream of ['diffs', 'statuses', 'fills'] as const) push(stream, lines[stream])
    const block = pass()
    expect(said).toEqual([])
    const all = { statuses: eventsOf(lines.statuses), diffs: eventsOf(lines.diffs) }
    const told = coins.map((coin) => ({
      coin,
      statuses: all.statuses.filter(({ order }) => order!.coin === coin),
      diffs: all.diffs.filter((row) => row.coin === coin),
    }))
    expect(JSON.stringify(block.l4)).toBe(JSON.stringify(told))
    for (const [coin, client] of clients) {
      if (!client.block(block)) throw new Error(`no rows of ${coin}`)
      if (block.height === height + 1) for (const part of partsOf(texts.get(coin)!, height)) client.part(part)
    }
  }
  return clients
}

const partsOf = (text: string, height: number): L4Book[] =>
  l4Frames(text, { height, time: 1 }).map((part) => FeederFrame.parse(JSON.parse(part)) as L4Book)

describe('rows and snapshots', () => {
  const crowd = MAINNET.crowd!
  const first = { bids: { orders: 400, levels: 300 }, asks: { orders: 300, levels: 200 } }
  const THIN: Scale = { ...MAINNET, crowd: { ...crowd, wallets: 20, orders: 12_000, levels: 9_000, first } }
  const at = (scale: Scale) => ({ scale, coins: scale.markets.map(({ coin }) => coin) })

  // FEED-35, FEED-36
  test.each([
    ['small', at(SMALL), 200],
    ['large', at(THIN), 20],
  ])('of a simulated exchange, %s', (_, { scale, coins }, count) => {
    const engine = createEngine(4, { scale })
    for (let i = 0; i < 100; i++) engine.step()
    const snapshot = () => [...l4Snapshot(engine.exchange, true, true)].join('')
    function* blocks() {
      for (let i = 0; i < count; i++) {
        const block = engine.step()
        const line = (stream: Parameters<typeof streamLine>[1]) => streamLine(block, stream, block.time)
        yield {
          diffs: line('node_raw_book_diffs_by_block'),
          statuses: line('node_order_statuses_by_block'),
          fills: line('node_fills_by_block'),
        }
      }
    }
    const clients = follow(coins, snapshot(), blocks())
    const book = (orders: readonly { oid: number; sz: string }[]) => orders.map(({ oid, sz }) => `${oid} ${sz}`).sort()
    const now = new Map(new SnapshotScanner().push(snapshot()).map((text) => [coinNameOf(text), text]))
    for (const [coin, client] of clients) {
      const truth = partsOf(now.get(coin)!, 1).flatMap(({ bids, asks }) => [...bids, ...asks])
      expect(book(client.orders!), coin).toEqual(book(truth as { oid: number; sz: string }[]))
    }
  })

  const [, wire, isAbsent] = WIRES[1]
  test.skipIf(isAbsent)('of recorded blocks', () => {
    const snapshot = readSnapshot(wire)
    const [diffs, statuses, fills] = [DIFFS, STATUSES, FILLS].map((path) => readLines(wire, path))
    const blocks = diffs!.map((line, i) => ({
      diffs: JSON.stringify(line),
      statuses: JSON.stringify(statuses![i]),
      fills: JSON.stringify(fills!.find((one) => one.block_number === line.block_number) ?? { ...line, events: [] }),
    }))
    const client = follow(['BTC'], JSON.stringify(snapshot), blocks).get('BTC')!
    const [, [[, sides]]] = snapshot as unknown as [number, [[string, [unknown[], unknown[]]]]]
    expect(client.begun).toBe(snapshot[0])
    expect(client.orders!.length).toBeGreaterThan(sides.flat().length * 0.9)
  })
})

const ADDRESS = `0x${'1'.repeat(40)}`
const line = (height: number, events: unknown[]) => {
  const time = `2026-05-05T17:00:0${height}.000000000`
  return JSON.stringify({ local_time: time, block_time: time, block_number: height, events })
}
const status = (coin: string, height: number) => {
  const time = `2026-05-05T17:00:0${height}.000000000`
  return { time, user: ADDRESS, hash: null, builder: null, status: 'open', order: { coin, oid: height } }
}
const diff = (coin: string, oid: number) => {
  return { user: ADDRESS, oid, coin, side: 'B', px: '1.0', raw_book_diff: 'remove' }
}

// FEED-35
describe('a coin with uncertain rows has no entry', () => {
  beforeEach(() => {
    begin(1)
    want(['BTC', 'ETH'])
  })

  /** Processes a block with a diff and an order status of BTC, or another text as its line of order statuses. */
  function step(height: number, statuses: string | null = line(height, [status('BTC', height)])) {
    push('diffs', line(height, [diff('BTC', height)]))
    push('fills', line(height, []))
    if (statuses !== null) push('statuses', statuses)
    return pass()
  }
  const entry = (coin: string, height: number) =>
    coin === 'ETH'
      ? { coin, statuses: [], diffs: [] }
      : { coin, statuses: [status(coin, height)], diffs: [diff(coin, height)] }

  test('every other coin has one, even if empty', () => {
    expect(step(1).l4).toEqual([entry('BTC', 1), entry('ETH', 1)])
    want(['@1'], ['BTC'])
    expect(step(2).l4).toEqual([entry('ETH', 2), { ...entry('ETH', 2), coin: '@1' }])
    want([], ['@1', 'ETH'])
    expect(step(3)).not.toHaveProperty('l4')
  })

  test('if order statuses are not read', () => {
    begin(1, ['diffs', 'fills'])
    want(['BTC'])
    expect(step(1, null)).not.toHaveProperty('l4')
  })

  test('if the line of order statuses is missing or late', () => {
    expect(step(1, null).l4).toEqual([entry('ETH', 1)])
    push('statuses', line(1, [status('ETH', 1)]))
    expect(step(2).l4).toEqual([entry('BTC', 2)])
    expect(step(3).l4).toEqual([entry('BTC', 3), entry('ETH', 3)])
  })

  test('if a line of order statuses is unreadable', () => {
    expect(step(1, line(1, []).replace('[]', '[{]'))).not.toHaveProperty('l4')
    expect(said).toEqual([expect.stringMatching(/status line of height 1/)])
    expect(step(2, null).l4).toHaveLength(1)
    push('statuses', line(2, []).replace('[]', '[{]'))
    expect(step(3)).not.toHaveProperty('l4')
    expect(step(4).l4).toHaveLength(2)
  })

  test('if the coin became wanted during the block', () => {
    const many = Array.from({ length: 3_000 }, () => ({ ...status('BTC', 1), more: 'x'.repeat(500) }))
    push('diffs', line(1, [diff('BTC', 1), diff('SOL', 1)]))
    push('fills', line(1, []))
    push('statuses', line(1, [...many, status('SOL', 1)]))
    expect(pass(() => want(['SOL'], ['ETH'])).l4!.map(({ coin }) => coin)).toEqual(['BTC', 'ETH'])
    expect(step(2).l4!.map(({ coin }) => coin)).toEqual(['BTC', 'SOL'])
  })

  test('a row that names no coin belongs to no coin', () => {
    push('diffs', line(1, [null, { ...diff('BTC', 1), coin: 7 }, { coin: 'BTC', odd: 1 }]))
    push('fills', line(1, []))
    push('statuses', line(1, [null, { ...status('BTC', 1), order: null }, status('BTC', 1)]))
    const odd = { coin: 'BTC', statuses: [status('BTC', 1)], diffs: [{ coin: 'BTC', odd: 1 }] }
    expect(pass().l4).toEqual([odd, entry('ETH', 1)])
  })
})

describe('a late line of an optional stream is sent once, with the next block sent from here', () => {
  const HASH = `0x${'0'.repeat(64)}`
  const timeOf = (height: number) => `2026-05-05T17:00:0${height}.000000000`
  const misc = (height: number, events: unknown[]) => push('misc', line(height, events))

  /** The gateway's log ends before `next`; blocks come from the first one on. */
  const sendFrom = (next: number) => begin(next, ['diffs', 'fills', 'misc'], 1)

  /** Processes a block whose misc events have not arrived. */
  function passBare(height: number): void {
    push('diffs', line(height, []))
    push('fills', line(height, []))
    take()
  }

  function payment(height: number, coin: string): unknown {
    const deltas = [{ user: `0x${'1'.repeat(40)}`, coin, funding_amount: '-0.5', szi: '2.0', funding_rate: '0.1' }]
    return { time: timeOf(height), hash: HASH, inner: { Funding: { deltas } } }
  }

  const ledger = (height: number) => ({
    time: timeOf(height),
    hash: HASH,
    inner: { LedgerUpdate: { users: [], delta: { type: 'deposit' } } },
  })
  const sent = () => session.drain(0, 1e9).map((text) => JSON.parse(text) as Block)

  // FEED-12
  test('funding and transfers go in the next block, before its own, and in no other', () => {
    sendFrom(1)
    passBare(1)
    passBare(2)
    misc(1, [payment(1, 'BTC'), ledger(1)])
    misc(2, [payment(2, 'ETH')])
    misc(3, [payment(3, 'SOL')])
    passBare(3)
    passBare(4)
    const blocks = sent()
    expect(blocks.map(({ funding }) => funding.map(({ coin }) => coin))).toEqual([[], [], ['BTC', 'ETH', 'SOL'], []])
    expect(blocks[2]!.ledger.map(({ time }) => time)).toEqual([Date.parse(`${timeOf(1).slice(0, 23)}Z`)])
    expect(said).toEqual([])
  })

  test('they wait if a height in between cannot be sent', () => {
    sendFrom(1)
    passBare(1)
    misc(1, [payment(1, 'BTC')])
    pairing.push('diffs', { height: 2, time: timeOf(2), text: 'spoilt' }, 0)
    push('fills', line(2, []))
    take()
    passBare(3)
    const [, gone, block] = sent()
    expect([gone, block!.funding.map(({ coin }) => coin)]).toEqual([{ type: 'gone', first: 3 }, ['BTC']])
  })

  test('they are not sent for a block that the gateway has from another feeder', () => {
    sendFrom(3)
    passBare(1)
    misc(1, [payment(1, 'BTC')])
    passBare(2)
    misc(2, [payment(2, 'ETH')])
    passBare(3)
    expect(sent().map(({ height, funding }) => [height, funding])).toEqual([[3, []]])
  })

  test('an unreadable one is reported and does not affect its block', () => {
    sendFrom(1)
    passBare(1)
    pairing.push('misc', { height: 1, time: timeOf(1), text: 'spoilt' }, 0)
    passBare(2)
    expect(sent()).toHaveLength(2)
    expect(said).toEqual([expect.stringMatching(/misc of height 1/)])
  })
})
