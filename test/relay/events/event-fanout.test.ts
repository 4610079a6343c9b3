import { expect, test } from 'vitest'
import type { Fill, LedgerEvent, UserFill } from '../../../src/protocol/feed/block.ts'
import type { RelayEvents } from '../../../src/protocol/feed/log-api.ts'
import { CHANNELS, channelOf } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { wantedEvents } from '../wanted.ts'

const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const { builder: _, builderFee: __, ...FILL } = EXAMPLE_FILL[1]
const fill = (coin: string, tid: number): Fill => ({ ...FILL, coin, px: '1.0', sz: '1.0', fee: '0.1', tid })
const block = (fills: RelayEvents['fills'], ledger: LedgerEvent[] = []): RelayEvents => ({
  v: 1,
  t: 'events',
  height: 9,
  time: 90,
  fills,
  ledger,
})
const socket = () => {
  const sent: string[] = []
  return { sent, send: (text: string) => void sent.push(text) }
}

// WS-25
test('userFills: one push per block with all matching fills, exactly as specified', () => {
  const fanout = new EventFanout(CHANNELS)
  const one = socket()
  const two = socket()
  for (const receiver of [one, two])
    fanout.add('ab', wantedEvents({ type: 'userFills', addresses: [A, B] }), false, receiver)
  fanout.deliver(
    block([
      [A, fill('BTC', 1)],
      [`0x${'c'.repeat(40)}`, fill('BTC', 1)],
      [B, fill('ETH', 2)],
    ]),
  )
  fanout.deliver(block([]))
  expect(one.sent).toEqual([
    JSON.stringify({
      channel: 'userFills',
      fills: [
        [A, fill('BTC', 1)],
        [B, fill('ETH', 2)],
      ],
    }),
  ])
  expect(two.sent[0]).toBe(one.sent[0])
})

// WS-24, WS-25
test('userFills of one `user`: his fills once more, as the public server has them, beside what is specified', () => {
  const fanout = new EventFanout(CHANNELS)
  const plain = socket()
  const merged = socket()
  const listed = socket()
  fanout.add('a', wantedEvents({ type: 'userFills', user: A.toUpperCase().replace('0X', '0x') }), false, plain)
  fanout.add('am', wantedEvents({ type: 'userFills', user: A, aggregateByTime: true }), true, merged)
  fanout.add('l', wantedEvents({ type: 'userFills', users: [A] }), false, listed)
  fanout.deliver(
    block([
      [A, fill('BTC', 1)],
      [A, fill('BTC', 2)],
      [B, fill('ETH', 3)],
    ]),
  )
  const fills = [fill('BTC', 1), fill('BTC', 2)]
  const specified = { channel: 'userFills', fills: fills.map((each) => [A, each]) }
  expect(listed.sent).toEqual([JSON.stringify(specified)])
  expect(plain.sent).toEqual([JSON.stringify({ ...specified, data: { user: A, fills } })])
  const [frame] = merged.sent.map((text) => JSON.parse(text))
  expect(frame).toMatchObject({
    fills: [[A, { sz: '2.0' }]],
    data: { user: A, fills: [{ sz: '2.0' }] },
    block_height: 9,
  })
  for (const { sent } of [plain, merged, listed]) channelOf('userFills')!.frame.parse(JSON.parse(sent[0]!))
})

// WS-24, WS-26
test('allFills: every market or one coin; meta adds height and time', () => {
  const fanout = new EventFanout(CHANNELS)
  const all = socket()
  const eth = socket()
  const meta = socket()
  fanout.add('all', wantedEvents({ type: 'allFills' }), false, all)
  fanout.add('eth', wantedEvents({ type: 'allFills', coin: 'ETH' }), false, eth)
  fanout.add('meta eth', wantedEvents({ type: 'allFills', coin: 'ETH' }), true, meta)
  fanout.deliver(
    block([
      [A, fill('BTC', 1)],
      [B, fill('ETH', 2)],
    ]),
  )
  expect(JSON.parse(all.sent[0]!)).toEqual({
    channel: 'allFills',
    fills: [
      [A, fill('BTC', 1)],
      [B, fill('ETH', 2)],
    ],
  })
  expect(JSON.parse(eth.sent[0]!)).toEqual({ channel: 'allFills', fills: [[B, fill('ETH', 2)]] })
  expect(JSON.parse(meta.sent[0]!)).toMatchObject({ block_height: 9, time: 90, fills: [[B, { tid: 2 }]] })
})

test('aggregateByTime merges for those who asked, and for nobody else', () => {
  const fanout = new EventFanout(CHANNELS)
  const plain = socket()
  const merged = socket()
  fanout.add('plain', wantedEvents({ type: 'userFills', addresses: [A] }), false, plain)
  fanout.add('merged', wantedEvents({ type: 'userFills', addresses: [A], aggregateByTime: true }), false, merged)
  fanout.deliver(
    block([
      [A, fill('BTC', 1)],
      [A, fill('BTC', 2)],
    ]),
  )
  expect(JSON.parse(plain.sent[0]!).fills).toHaveLength(2)
  expect(JSON.parse(merged.sent[0]!).fills).toEqual([[A, { ...fill('BTC', 1), sz: '2.0', fee: '0.2' }]])
})

// WS-27
test('ledger: one push per affected wallet and block, without the list of wallets', () => {
  const fanout = new EventFanout(CHANNELS)
  const both = socket()
  const onlyB = socket()
  const type = 'userNonFundingLedgerUpdates'
  fanout.add('ab', wantedEvents({ type, addresses: [A, B] }), false, both)
  fanout.add('b', wantedEvents({ type, addresses: [B] }), true, onlyB)
  const send = { time: 90, hash: '0x2', delta: { type: 'send', user: A, destination: B, amount: '1.0' } }
  const deposit = { time: 90, hash: '0x3', delta: { type: 'deposit', usdc: '5.0' } }
  fanout.deliver(
    block(
      [],
      [
        { ...send, users: [A, B] },
        { ...deposit, users: [A] },
      ],
    ),
  )
  const envelope = (user: string, updates: unknown[]) => ({
    channel: type,
    data: { user, isSnapshot: false, nonFundingLedgerUpdates: updates },
  })
  expect(both.sent.map((text) => JSON.parse(text))).toEqual([envelope(A, [send, deposit]), envelope(B, [send])])
  expect(JSON.parse(onlyB.sent[0]!).data).toMatchObject({ user: B, block_height: 9, time: 90 })
})

test('a block’s frames come in one order, whoever subscribed to what before', () => {
  const addresses = [A]
  const bodies = [
    { type: 'userFills', addresses },
    { type: 'allFills' },
    { type: 'userFills', addresses, aggregateByTime: true },
    { type: 'allFills', aggregateByTime: true },
    { type: 'userNonFundingLedgerUpdates', addresses },
    { type: 'trades', coin: 'BTC' },
  ]
  const counter: UserFill = [B, { ...fill('BTC', 1), side: 'A' }]
  const movement = { users: [A], time: 1, hash: '0x1', delta: { type: 'send' } }
  for (const inOrder of [bodies, bodies.toReversed(), [...bodies.slice(3), ...bodies.slice(0, 3)]]) {
    const fanout = new EventFanout(CHANNELS)
    const one = socket()
    for (const body of inOrder) fanout.add(JSON.stringify(body), wantedEvents(body), false, one)
    fanout.deliver(block([[A, fill('BTC', 1)], [A, fill('BTC', 2)], counter], [movement]))
    const seen = one.sent.map((text) => [JSON.parse(text).channel, JSON.parse(text).fills?.length])
    expect(seen).toEqual([
      ['userFills', 2],
      ['allFills', 3],
      ['userFills', 1],
      ['allFills', 2],
      ['userNonFundingLedgerUpdates', undefined],
      ['trades', undefined],
    ])
  }
})

test('nothing is sent after the last subscriber of a body has gone', () => {
  const fanout = new EventFanout(CHANNELS)
  const one = socket()
  fanout.add('a', wantedEvents({ type: 'userFills', addresses: [A] }), false, one)
  fanout.remove('a', one)
  fanout.remove('a', one)
  fanout.deliver(block([[A, fill('BTC', 1)]]))
  expect(one.sent).toEqual([])
  expect(fanout.size).toBe(0)
})

test('a socket that ends while its ledger updates go out takes no other socket with it', () => {
  const fanout = new EventFanout(CHANNELS)
  const sent: string[] = []
  const ending = {
    send: () => fanout.remove('ab', ending),
  }
  const other = { send: (text: string) => void sent.push(text) }
  const C = `0x${'c'.repeat(40)}`
  fanout.add('ab', wantedEvents({ type: 'userNonFundingLedgerUpdates', addresses: [A, B] }), false, ending)
  fanout.add('c', wantedEvents({ type: 'userNonFundingLedgerUpdates', addresses: [C] }), false, other)
  fanout.deliver(block([], [{ users: [A, B, C], time: 1, hash: '0x1', delta: { type: 'send' } }]))
  expect(sent).toHaveLength(1)
})
