// A line of an optional stream that comes after its block goes with the next one, once, where the block was sent from here.

import { beforeEach, expect, test } from 'vitest'
import { BookKeeper } from '../../src/feeder/book-keeper.ts'
import { Pairing } from '../../src/feeder/pairing.ts'
import { Producer } from '../../src/feeder/producer.ts'
import { FeedSession } from '../../src/feeder/session.ts'
import type { StreamName } from '../../src/feeder/streams.ts'
import type { Block } from '../../src/protocol/feed/block.ts'
import { drained } from './drained.ts'

const HASH = `0x${'0'.repeat(64)}`
const timeOf = (height: number) => `2026-05-05T17:00:0${height}.000000000`

let session: FeedSession
let pairing: Pairing
let producer: Producer
let said: string[]

beforeEach(() => {
  session = new FeedSession()
  session.opened({ chain: 'c', feeder: 'f', first: 1, head: 9 }, 0)
  pairing = new Pairing(1, null, ['diffs', 'fills', 'misc'])
  said = []
  producer = new Producer(new BookKeeper(), session, (sentence) => said.push(sentence))
})

/** The gateway's log ends before `next`. */
function sendFrom(next: number): void {
  session.received({ type: 'welcome', epoch: 'e', height: next - 1 }, 0)
  session.positioned(next, false, null)
}

function push(stream: StreamName, height: number, events: unknown[] = []): void {
  const time = timeOf(height)
  const text = JSON.stringify({ local_time: time, block_time: time, block_number: height, events })
  pairing.push(stream, { height, time, text }, 0)
}

/** Passes a block of whose misc events nothing is there yet. */
function pass(height: number): void {
  push('diffs', height)
  push('fills', height)
  pairing.ended('misc', Number.POSITIVE_INFINITY)
  const paired = pairing.take()
  if (!paired || paired === 'started_over') throw new Error(`height ${height} is not due`)
  drained(producer.accept(paired))
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
test('funding and transfers stand in the next block, before its own, and in no other', () => {
  sendFrom(1)
  pass(1)
  pass(2)
  push('misc', 1, [payment(1, 'BTC'), ledger(1)])
  push('misc', 2, [payment(2, 'ETH')])
  push('misc', 3, [payment(3, 'SOL')])
  pass(3)
  pass(4)
  const blocks = sent()
  expect(blocks.map(({ funding }) => funding.map(({ coin }) => coin))).toEqual([[], [], ['BTC', 'ETH', 'SOL'], []])
  expect(blocks[2]!.ledger.map(({ time }) => time)).toEqual([Date.parse(`${timeOf(1).slice(0, 23)}Z`)])
  expect(said).toEqual([])
})

test('they wait where a height between cannot be sent', () => {
  sendFrom(1)
  pass(1)
  push('misc', 1, [payment(1, 'BTC')])
  pairing.push('diffs', { height: 2, time: timeOf(2), text: 'spoilt' }, 0)
  push('fills', 2)
  pairing.ended('misc', Number.POSITIVE_INFINITY)
  const spoilt = pairing.take()
  if (!spoilt || spoilt === 'started_over') throw new Error('height 2 is not due')
  drained(producer.accept(spoilt))
  pass(3)
  const [, gone, block] = sent()
  expect([gone, block!.funding.map(({ coin }) => coin)]).toEqual([{ type: 'gone', first: 3 }, ['BTC']])
})

test('of a block that the gateway had from elsewhere they are not told again', () => {
  sendFrom(3)
  pass(1)
  push('misc', 1, [payment(1, 'BTC')])
  pass(2)
  push('misc', 2, [payment(2, 'ETH')])
  pass(3)
  expect(sent().map(({ height, funding }) => [height, funding])).toEqual([[3, []]])
})

test('one that cannot be read is named, and costs its block nothing', () => {
  sendFrom(1)
  pass(1)
  pairing.push('misc', { height: 1, time: timeOf(1), text: 'spoilt' }, 0)
  pass(2)
  expect(sent()).toHaveLength(2)
  expect(said).toEqual(['the late line of misc of height 1 is left out: it is not JSON'])
})
