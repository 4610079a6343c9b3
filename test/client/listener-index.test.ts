// For every channel of the catalogue, a frame reaches the listener of its body, and no other that the frame can be told
// apart from.

import { expect, it, test } from 'vitest'
import { typeOfFrame } from '../../src/client/channels.ts'
import { Connection } from '../../src/client/connection.ts'
import { filterOf, ListenerIndex, mayMatch, type SubscriptionFilter } from '../../src/client/listener-index.ts'
import type { DataFrame } from '../../src/client/server-frame.ts'
import type { Json, SubscriptionBody } from '../../src/client/subscription.ts'
import { echoOf } from '../../src/relay/channel.ts'
import { CHANNELS, readBody } from '../../src/relay/channels/catalogue.ts'
import { FakeRuntime } from './fake-runtime.ts'

const OTHER = `0x${'Dd'.repeat(20)}`
const NUMBERS = ['prevDayPx', 'dayNtlVlm', 'markPx', 'circulatingSupply', 'totalSupply', 'dayBaseVlm']
const SPOT_CTX = { coin: '@1', midPx: null, ...Object.fromEntries(NUMBERS.map((name) => [name, '1.0'])) }
/** Another value of a field that frames show; none for other fields. */
const OTHERS: Readonly<Record<string, (value: Json) => Json>> = {
  addresses: () => [OTHER],
  user: () => OTHER,
  builder: () => OTHER,
  coin: () => 'ETH',
  dex: (dex) => (dex === 'abc' ? '' : 'abc'),
  interval: () => '5m',
  fast: (fast) => !fast,
  nSigFigs: () => 5,
}
/** Frames without a distinguishing field. */
const MUTE = new Set(['userEvents', 'notification'])

function setUp(bodies: readonly SubscriptionBody[]) {
  const runtime = new FakeRuntime()
  const calls: number[] = []
  const notices: string[] = []
  const onNotice = (text: string) => void notices.push(text)
  const connection = new Connection(runtime, { endpoint: () => ({ url: 'http://one', key: 'k' }), onNotice })
  bodies.forEach((body, index) => {
    const refused = (why: string) => expect.unreachable(why)
    connection.subscribe(body, { live() {}, lost() {}, frame: () => calls.push(index), refused })
  })
  connection.start()
  runtime.last.open()
  for (const { method, subscription } of runtime.last.sent.splice(0)) {
    if (method !== 'subscribe') continue
    const sent = subscription as { type: string }
    const read = readBody(sent)
    if (!read.ok) throw new Error(`${read.error.path}: ${read.error.message}`)
    const data = { method, subscription: echoOf(sent, read.value) }
    runtime.last.receive({ channel: 'subscriptionResponse', data })
  }
  return { socket: runtime.last, calls, notices }
}

const cases = CHANNELS.flatMap(({ type, example }) => {
  const body: SubscriptionBody = { type, ...(example.request as Record<string, Json>) }
  const others = Object.keys(example.request).flatMap((field): [string, SubscriptionBody][] => {
    const other = { ...body, [field]: OTHERS[field]?.(body[field]!) ?? null }
    return JSON.stringify(other) === JSON.stringify(body) || !readBody(other).ok ? [] : [[field, other]]
  })
  return [['', null], ...others].map(([field, other]) => [type, field, body, other, example.frame] as const)
})

it.each(cases)('%s %s', (type, _, body, other, frame) => {
  const { socket, calls, notices } = setUp(other ? [body, other as SubscriptionBody] : [body])
  socket.receive(frame)
  expect(calls).toEqual(MUTE.has(type) && other ? [0, 1] : [0])
  expect(notices).toHaveLength(type === 'notification' ? 1 : 0)
  expect(socket.dropped).toBe(false)
})

const CHANGES = ['BTC', 'ETH'].map((coin) => ({ coin, seq: 2, prev_seq: 1, levels: [[], []] }))
const UPDATES = { time: 1, block_height: 2, epoch: 'e', cursor: '2', book_diffs: CHANGES }

it.each<[SubscriptionBody[], object, number[]]>([
  [
    [{ type: 'l2Book', coin: 'BTC' }, { type: 'l2Book', coin: 'BTC', fast: true }, { type: 'l2Book' }],
    { channel: 'l2Book', data: { coin: 'BTC', time: 1, levels: [[], []], fast: true } },
    [1],
  ],
  [
    [
      { type: 'activeAssetCtx', coin: '@1' },
      { type: 'activeAssetCtx', coin: 'BTC' },
    ],
    { channel: 'activeSpotAssetCtx', data: { coin: '@1', ctx: SPOT_CTX } },
    [0],
  ],
  [
    [{ type: 'l2BookDiff2', coin: ['BTC', 'ETH'] }, { type: 'l2BookDiff2', coin: 'BTC' }, { type: 'l2BookDiff2' }],
    { channel: 'l2BookDiff2', data: { Updates: UPDATES } },
    [0, 2],
  ],
  [
    [
      { type: 'trades', coin: 'BTC' },
      { type: 'trades', coin: 'ETH' },
    ],
    { channel: 'trades', data: [] },
    [0, 1],
  ],
  [
    [{ type: 'writerActions', user: OTHER }, { type: 'writerActions' }],
    { channel: 'writerActions', data: { actions: [{ user: OTHER.toLowerCase() }] } },
    [1],
  ],
  [
    [{ type: 'writerActions', user: OTHER }, { type: 'writerActions' }],
    { channel: 'writerActions', data: { user: OTHER.toLowerCase(), actions: [] } },
    [0],
  ],
  [
    [
      { type: 'oracleUpdates', dex: 'xyz' },
      { type: 'oracleUpdates', dex: 'flx' },
    ],
    { channel: 'oracleUpdates', data: [{ coin: 'xyz:GOLD' }] },
    [0],
  ],
])('%j', (bodies, frame, listeners) => {
  const { socket, calls } = setUp(bodies)
  socket.receive(frame)
  expect([calls, socket.dropped]).toEqual([listeners, false])
})

it("does not copy a frame's content, which may be large", () => {
  const data = new Proxy({ coin: 'BTC' }, { ownKeys: () => expect.unreachable() })
  const frame = { channel: 'bbo', data } as unknown as DataFrame
  expect(['BTC', 'ETH'].map((coin) => mayMatch(frame, filterOf({ type: 'bbo', coin })!))).toEqual([true, false])
})

interface Entry {
  readonly body: SubscriptionBody
  readonly filter: SubscriptionFilter | null
  readonly phase: 'live'
}
const acked = (body: object): Entry => ({
  body: body as SubscriptionBody,
  filter: filterOf(body as SubscriptionBody),
  phase: 'live',
})
const user = (at: number) => `0x${at.toString(16).padStart(40, '0')}`

test('finds the same subscriptions of every channel as a full scan, until they leave', () => {
  const bodies = CHANNELS.flatMap(({ type, example: { request } }) => [
    { type, ...request },
    { type },
    { type, ...request, later: 'a field of a newer gateway' },
    ...['user', 'coin'].map((field) => ({ type, ...request, [field]: field === 'user' ? user(1) : 'NONE' })),
  ])
  const entries = bodies.map(acked)
  const index = new ListenerIndex<Entry>()
  const expectAll = () => {
    for (const { example } of CHANNELS) {
      const frame = example.frame as unknown as DataFrame
      const found = entries.filter(({ body, filter }) => {
        return body.type === typeOfFrame(frame.channel) && (filter === null || mayMatch(frame, filter))
      })
      expect(new Set(index.of(frame))).toEqual(new Set(found))
    }
  }
  for (const entry of entries) index.add(entry)
  expectAll()
  while (entries.length > 0) {
    for (const entry of entries.splice(0, 40)) index.remove(entry)
    expectAll()
  }
  expect(CHANNELS.some(({ type }) => index.has(type))).toBe(false)
})

test.each<[string, (at: number) => object, object]>([
  ['bbo', (at) => ({ coin: `C${at}` }), { data: { coin: 'C7', time: 1, bbo: [null, null] } }],
  ['trades', (at) => ({ coin: `C${at}` }), { data: [{ coin: 'C7' }, { coin: 'C7' }] }],
  ['userFills', (at) => ({ user: user(at) }), { fills: [], data: { user: user(7), fills: [] } }],
  ['l2BookDiff2', (at) => ({ coin: `C${at}` }), { data: { Updates: { book_diffs: [{ coin: 'C7' }] } } }],
  ['clearinghouseState', (at) => ({ user: user(at) }), { data: { user: user(7), dex: '' } }],
])('checks only the subscriptions with the name in a %s frame', (type, bodyOf, frame) => {
  let looks = 0
  const index = new ListenerIndex<Entry>()
  for (let at = 0; at < 1_000; at++) {
    const entry = acked({ type, ...bodyOf(at) })
    Object.defineProperty(entry, 'phase', { get: () => (++looks > 0 ? 'live' : '') })
    index.add(entry)
  }
  expect(index.of({ channel: type, ...frame } as unknown as DataFrame)).toHaveLength(1)
  expect(looks).toBe(1)
})
