// Sockets of /graphql against a relay's fan-outs and a scripted meter.

import { getIntrospectionQuery } from 'graphql'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { limitsOf } from '../../../src/metering/plans/plan.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import type { GraphqlSocket } from '../../../src/relay/graphql/graphql-socket.ts'
import { type GraphqlPorts, GraphqlSockets } from '../../../src/relay/graphql/graphql-sockets.client.ts'
import { SharedPlans } from '../../../src/relay/graphql/shared-plans.ts'
import { Connection } from '../../../src/relay/sockets/connection.ts'
import { LIGHT, RelayUnread } from '../../../src/relay/sockets/unread.ts'
import { type Frame, identity, World } from '../world.ts'

const USER = EXAMPLE_FILL[0]
const FILLS = `subscription { userFills(user: "${USER}") { fills { user fill { px } } } }`
const INIT = JSON.stringify({ type: 'connection_init', payload: { Authorization: 'good' } })
const BOOK = 'subscription { l2BookDiff2(coin: "BTC") { data { Updates { block_height book_diffs { coin } } } } }'

/** A platform socket, with what was sent to it. */
class Wire {
  readonly sent: Frame[] = []
  closed: [code: number, reason: string] | null = null
  attachment: Frame = null
  send(text: string): void {
    if (this.closed) throw new Error('closed')
    this.sent.push(JSON.parse(text))
  }
  close(code: number, reason: string): void {
    this.closed = [code, reason]
  }
  serializeAttachment(attachment: unknown): void {
    this.attachment = attachment
  }
  /** Error codes or message types sent since. */
  codes(): string[] {
    return this.next().map(({ type, payload }) => payload?.errors?.[0].extensions.code ?? type)
  }
  /** Everything but acknowledgements and pings. */
  next(): Frame[] {
    return this.sent.splice(0).filter(({ type }) => type !== 'ping' && type !== 'connection_ack')
  }
}

let world: World
let sockets: GraphqlSockets
let unread: RelayUnread
let gateway: GraphqlPorts['gateway']
let work: Promise<unknown>[]
/** Sockets whose slots are free again. */
let left: Wire[]

beforeEach(() => {
  world = new World()
  work = []
  left = []
  unread = new RelayUnread(LIGHT, world.clock.nowMs)
  gateway = { enter: async (key) => (key === 'good' ? { ok: true, value: identity } : bad('key_unknown')) }
  sockets = new GraphqlSockets({
    clock: world.clock,
    gateway: { enter: (...one) => gateway.enter(...one) },
    clients: {
      hasRoom: () => true,
      admit: async () => null,
      add: (_, id, who, product, sink: GraphqlSocket) => {
        const end = (ended: Connection) => world.accounts.of(who.account).remove(ended)
        const connection = new Connection(id, { identity: who, terms: 0 }, sink, world.clock, end, unread)
        connection.product = product
        world.accounts.of(who.account).add(connection)
        return connection
      },
      restore: () => {
        throw new Error('not here')
      },
      onClosed: (socket) => {
        left.push(socket as never)
        return true
      },
    },
    subscriptions: world.subscriptions,
    sentHeight: () => 7,
    waitUntil: (one) => void work.push(one),
    onChange: () => undefined,
  })
})

const bad = (kind: 'key_unknown' | 'key_malformed' | 'internal') => ({ ok: false, error: { kind } }) as const
const settled = async () => {
  while (work.length > 0) await Promise.all(work.splice(0))
}

function open(address: string | null = null): Wire & { say(...messages: unknown[]): Promise<void> } {
  const wire = Object.assign(new Wire(), {
    say: async (...messages: unknown[]) => {
      for (const message of messages)
        sockets.onMessage(wire as never, typeof message === 'string' ? message : JSON.stringify(message))
      await settled()
    },
  })
  sockets.addGuest(wire as never, address)
  return wire
}

async function opened(payload: object = { SERVICE_API_KEY: 'good' }) {
  const wire = open()
  await wire.say({ type: 'connection_init', payload })
  expect(wire.sent.shift()).toEqual({ type: 'connection_ack' })
  return wire
}

const subscribe = (query: string, id = '1', more: object = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, ...more },
})

// WS-161, WS-162
it('limits a stream token to its channels and subscriptions', async () => {
  const token = { coins: null, channels: ['trades'], expires: Number.MAX_SAFE_INTEGER, holder: 'a' }
  gateway = { enter: async () => ({ ok: true, value: { ...identity, token } }) }
  const wire = await opened()
  await wire.say(subscribe(FILLS))
  expect(wire.codes()).toEqual(['FORBIDDEN', 'complete'])
  const trades = (id: number) => subscribe('subscription { trades(coin: "BTC") { data { px } } }', `trades ${id}`)
  await wire.say(...Array.from({ length: 17 }, (_, id) => trades(id)))
  expect(wire.codes()).toEqual(['RATE_LIMITED', 'complete'])
})

describe('a key', () => {
  // GQL-2, GQL-4
  it.each([
    ['missing', {}, 'MISSING_TOKEN'],
    ['empty', { SERVICE_API_KEY: '', Authorization: null }, 'MISSING_TOKEN'],
    ['no text', { SERVICE_API_KEY: 7 }, 'INVALID_TOKEN'],
    ['unknown', { Authorization: 'Bearer cqt_bad' }, 'INVALID_TOKEN'],
    ['fine', { SERVICE_API_KEY: 'good' }, undefined],
    ['fine as authorization', { Authorization: 'good' }, undefined],
    ['fine as a bearer token', { Authorization: 'bearer good' }, undefined],
  ])('that is %s is acknowledged, and reported when a subscription starts', async (_, payload, code) => {
    const wire = await opened(payload)
    expect(wire.next()).toEqual([])
    await wire.say(subscribe(FILLS))
    if (code === undefined) return expect(wire.next()).toEqual([])
    expect(wire.next()).toEqual([
      { id: '1', type: 'next', payload: { errors: [{ message: expect.any(String), extensions: { code } }] } },
      { id: '1', type: 'complete' },
    ])
    expect(wire.closed).toBeNull()
    expect(JSON.stringify(wire.attachment)).not.toContain('cqt_bad')
  })

  // GQL-4
  it.each([
    ['fails', async () => Promise.reject(new Error('no gateway'))],
    ['says so', async () => bad('internal')],
  ])('that cannot be checked, because the gateway %s, is a system error', async (_, enter) => {
    gateway = { enter }
    const wire = await opened()
    await wire.say(subscribe(FILLS))
    expect(wire.next()[0].payload.errors[0].extensions).toEqual({ code: 'AUTH_SYSTEM_ERROR' })
  })

  // GQL-4
  it('of a client that left frees its slot', async () => {
    const wire = open()
    sockets.onMessage(wire as never, INIT)
    sockets.onClosed(wire as never)
    await settled()
    expect(left).toEqual([wire])
  })

  // GQL-13
  it('whose check was interrupted by hibernation must be sent again', async () => {
    const guest = { of: 'guest', id: 'g', address: null, openedMs: world.clock.nowMs, isInit: true } as const
    const interrupted = new Wire()
    const wrong = new Wire()
    sockets.restoreGuest(interrupted as never, guest)
    expect(interrupted.closed?.[0]).toBe(1013)
    sockets.restoreGuest(wrong as never, { ...guest, wrong: { message: 'no', code: 'INVALID_TOKEN' } })
    sockets.onMessage(wrong as never, JSON.stringify(subscribe(FILLS)))
    await settled()
    expect(wrong.next()[0].payload.errors[0].extensions.code).toBe('INVALID_TOKEN')
    world.clock.nowMs += 30_000
    sockets.check()
    expect(wrong.closed?.[0]).toBe(4401)
  })

  // GQL-13
  it('that is being checked is saved without the key itself', async () => {
    const wire = open()
    expect(wire.attachment).toMatchObject({ of: 'guest', isInit: false })
    sockets.onMessage(wire as never, INIT)
    expect(wire.attachment).toMatchObject({ of: 'guest', isInit: true })
    expect(JSON.stringify(wire.attachment)).not.toContain('good')
    await settled()
  })

  // GQL-12
  it('that is not checked yet limits waiting sockets per network, and their messages', async () => {
    let enter: () => void = () => {}
    gateway = { enter: () => new Promise((resolve) => (enter = () => resolve({ ok: true, value: identity }))) }
    const wires = Array.from({ length: 40 }, (_, at) => open(`2001:db8:1:2::${at}`))
    const [same, other] = ['2001:db8:1:2:9::', '2001:db8:1:3::'] as const
    expect([same, other, null].map((address) => sockets.noRoomReason(address))).toEqual(['limit', null, null])
    const [wire] = wires as [ReturnType<typeof open>]
    const long = subscribe(`${FILLS} #${'x'.repeat(60_000)}`)
    sockets.onMessage(wire as never, INIT)
    for (let at = 0; at < 40; at++) sockets.onMessage(wire as never, JSON.stringify({ ...long, id: `${at}` }))
    const limited = wire.codes().filter((code) => code === 'RATE_LIMITED')
    expect(limited).toHaveLength(40 - Math.floor((2 * 1024 * 1024) / 60_700))
    enter()
    await settled()
    expect(sockets.noRoomReason(same)).toBeNull()
  })

  // GQL-12
  it('that is being checked lets its socket queue all its operations', async () => {
    const wire = open()
    sockets.onMessage(wire as never, INIT)
    for (let at = 0; at < 300; at++) sockets.onMessage(wire as never, JSON.stringify(subscribe(BOOK, `${at}`)))
    await settled()
    expect([wire.closed, world.subscriptions.size]).toEqual([null, 300])
  })

  // GQL-11
  it('that is revoked ends all operations with the specified body, and the socket', async () => {
    const wire = await opened()
    await wire.say(subscribe(FILLS), subscribe(BOOK, '2'))
    world.meter.revoked.add('k')
    await world.pass(20_000)
    const received = wire.next()
    expect(received.map(({ id, type }) => `${id} ${type}`)).toEqual(['1 next', '1 complete', '2 next', '2 complete'])
    expect(received[0].payload.errors[0].extensions.code).toBe('INVALID_TOKEN')
    expect(wire.closed?.[0]).toBe(4401)
  })
})

describe('the protocol', () => {
  // GQL-3
  it.each<[string, unknown[], number]>([
    ['a second init', [{ type: 'connection_init' }, { type: 'connection_init' }], 4429],
    ['a subscribe before the init', [subscribe(FILLS)], 4401],
    ['an id that is taken', [{ type: 'connection_init' }, subscribe(FILLS), subscribe(FILLS)], 4409],
    [
      'a taken id of long letters',
      [{ type: 'connection_init' }, subscribe(FILLS, '界'.repeat(60)), subscribe(FILLS, '界'.repeat(60))],
      4409,
    ],
    ['no JSON', ['{"type":'], 4400],
    ['another type', [{ type: 'start' }], 4400],
    ['a type of servers', [{ type: 'next', id: '1', payload: { data: {} } }], 4400],
    ['an id that is none', [{ type: 'connection_init' }, subscribe(FILLS, '')], 4400],
    ['a long id', [{ type: 'connection_init' }, subscribe(FILLS, 'x'.repeat(129))], 4400],
    ['no query', [{ type: 'connection_init' }, { id: '1', type: 'subscribe', payload: {} }], 4400],
    ['deep nesting', ['['.repeat(40)], 4400],
    ['a large message', [JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(65_536) } })], 1009],
    ['a flood without a key', Array(101).fill({ type: 'ping' }), 1008],
  ])('%s ends the socket', async (_, messages, code) => {
    const wire = open()
    await wire.say(...messages)
    expect(wire.closed?.[0]).toBe(code)
    expect(Buffer.byteLength(wire.closed![1])).toBeLessThan(124)
  })

  // GQL-3
  it('waits three seconds for the init', () => {
    vi.useFakeTimers()
    try {
      const wire = open()
      vi.advanceTimersByTime(2_999)
      expect(wire.closed).toBeNull()
      vi.advanceTimersByTime(1)
      expect(wire.closed?.[0]).toBe(4408)
    } finally {
      vi.useRealTimers()
    }
  })

  // GQL-5
  it('answers pings, with our nonce if they have one, and ends silent sockets', async () => {
    const wire = await opened()
    await wire.say({ type: 'ping' })
    expect(wire.next()).toEqual([{ type: 'pong' }])
    await wire.say(subscribe(FILLS))
    await wire.say({ type: 'ping', payload: { nonce: '' } })
    expect(wire.next()).toEqual([{ type: 'pong', payload: { nonce: expect.any(String), block_height: 7 } }])
    for (let at = 0; at < 11; at++) {
      world.clock.nowMs += 5_000
      sockets.check()
    }
    expect(wire.sent.filter(({ type }) => type === 'ping')).toHaveLength(3)
    expect(wire.closed).toBeNull()
    world.clock.nowMs += 5_000
    sockets.check()
    expect(wire.closed?.[0]).toBe(4408)
  })

  // GQL-5
  it('accepts a pong with our nonce as proof that the client reads', async () => {
    const wire = await opened()
    await wire.say(subscribe('subscription { l2BookDiff2(marketTypes: ["*"]) { data { Updates { cursor } } } }'))
    for (let block = 0; block < 1_000; block++) world.block(['BTC'])
    const pings = wire.sent.filter(({ type }) => type === 'ping')
    expect(pings.length).toBeGreaterThan(1)
    const before = unread.live
    expect(before).toBeGreaterThan(64 * 1024)
    await wire.say({ type: 'pong', payload: pings.at(-1).payload })
    expect(unread.live).toBeLessThan(33 * 1024)
  })

  // GQL-11
  it('ends a socket with too much data that the client has not confirmed', async () => {
    unread = new RelayUnread({ ...LIGHT, bytes: 32 * 1024 }, world.clock.nowMs)
    const wire = await opened()
    await wire.say(subscribe('subscription { l2BookDiff2(marketTypes: ["*"]) { data { Updates { cursor } } } }'))
    for (let block = 0; block < 1_000 && !wire.closed; block++) world.block(['BTC'])
    expect(wire.closed?.[0]).toBe(1013)
    const [error, complete] = wire.next().slice(-2)
    expect([error.payload.errors[0].extensions.code, complete]).toEqual(['TOO_SLOW', { id: '1', type: 'complete' }])
    expect(world.subscriptions.size).toBe(0)
  })

  // WS-65
  it('ends a socket that answers our pings half a minute late, and not one that answers at once', async () => {
    const late = await opened()
    const prompt = await opened()
    const pingsOf = (wire: Wire) => wire.sent.filter(({ type }) => type === 'ping').map(({ payload }) => payload)
    for (const wire of [late, prompt]) await wire.say(subscribe(FILLS))
    for (let seconds = 0; seconds < 100 && !late.closed; seconds += 5) {
      world.clock.nowMs += 5_000
      sockets.check()
      const newest = pingsOf(prompt).at(-1)
      // Its own ping repeats the last nonce that it has got.
      if (newest) await prompt.say({ type: 'pong', payload: newest }, { type: 'ping', payload: newest })
      if (seconds >= 50) await late.say({ type: 'pong', payload: pingsOf(late)[0] })
    }
    expect([late.closed, prompt.closed]).toEqual([[4413, 'unread data is too old'], null])
    const codes = late.codes()
    expect(codes.slice(-2)).toEqual(['TOO_LATE', 'complete'])
  })

  // GQL-12
  it("ignores pings over the plan's limit, and ends a flood", async () => {
    const wire = await opened()
    const most = limitsOf(identity).streamMessagesPerMinute
    await wire.say(...Array(most).fill({ type: 'ping' }))
    expect(wire.next()).toHaveLength(most)
    await wire.say(...Array(10).fill({ type: 'ping' }), subscribe(FILLS))
    expect(wire.codes()).toEqual(['RATE_LIMITED', 'complete'])
    await wire.say(...Array(1_000).fill({ type: 'ping' }))
    expect(wire.closed?.[0]).toBe(1008)
  })

  // GQL-3
  it('allows an id again after complete from either side', async () => {
    const wire = await opened()
    await wire.say(subscribe(FILLS), { id: '1', type: 'complete' }, subscribe(BOOK))
    world.eventBlock({ fills: [EXAMPLE_FILL] })
    world.block(['BTC'])
    expect(wire.next().map(({ payload }) => Object.keys(payload.data))).toEqual([['l2BookDiff2']])
    await wire.say({ id: '1', type: 'complete' }, { id: 'none', type: 'complete' }, subscribe('{ nothing }'))
    expect(wire.next().map(({ type }) => type)).toEqual(['error'])
    await wire.say(subscribe(FILLS))
    world.block(['BTC'])
    world.eventBlock({ fills: [EXAMPLE_FILL] })
    expect(wire.next().map(({ payload }) => payload.data)).toEqual([
      { userFills: { fills: [{ user: USER, fill: { px: '81307.0' } }] } },
    ])
  })
})

describe('a subscription', () => {
  // GQL-7, GQL-8
  it('is charged its minute, and sends one result per frame under its id', async () => {
    const wire = await opened()
    const query =
      'subscription S($who: String!) { mine: userFills(user: $who) { fills { fill { coin px } } block_height } }'
    await wire.say(subscribe(query, 'a"b', { variables: { who: USER.toUpperCase().replace('X', 'x') } }))
    expect(world.meter.charges.map(({ amount }) => amount)).toEqual([1_000_000])
    world.eventBlock({ fills: [EXAMPLE_FILL] })
    const mine = { fills: [{ fill: { coin: 'BTC', px: '81307.0' } }], block_height: world.eventsHeight }
    expect(wire.next()).toEqual([{ id: 'a"b', type: 'next', payload: { data: { mine } } }])
  })

  // GQL-9
  it('may have the same body as others on a socket, with its own selection', async () => {
    const wire = await opened()
    await wire.say(subscribe(BOOK, '1'), subscribe(BOOK, '2'), subscribe(BOOK.replace('coin }', 'seq }'), '3'))
    expect(world.books.size).toBe(1)
    world.block(['BTC'])
    expect(wire.next().map(({ id, payload }) => [id, payload.data.l2BookDiff2.data.Updates.book_diffs])).toEqual([
      ['1', [{ coin: 'BTC' }]],
      ['2', [{ coin: 'BTC' }]],
      ['3', [{ seq: world.height }]],
    ])
    await wire.say({ id: '2', type: 'complete' })
    world.block(['BTC'])
    expect(wire.next().map(({ id }) => id)).toEqual(['1', '3'])
    sockets.onClosed(wire as never)
    expect([world.books.size, world.subscriptions.size]).toEqual([0, 0])
  })

  // GQL-11
  it('that is rejected reports why', async () => {
    const wire = await opened()
    await wire.say(subscribe(BOOK.replace('BTC', 'NONE')))
    const notFound = { message: expect.stringMatching(/^coin: /), extensions: { code: 'NOT_FOUND' } }
    expect(wire.next()).toEqual([
      { id: '1', type: 'next', payload: { errors: [notFound] } },
      { id: '1', type: 'complete' },
    ])
    await wire.say(subscribe(FILLS.replace(USER, '0x1')))
    const extensions = { code: 'INVALID_REQUEST' }
    const wrong = { message: expect.stringMatching(/^user: /), path: ['userFills'], extensions }
    expect(wire.next()).toEqual([{ id: '1', type: 'error', payload: [wrong] }])
    expect(world.meter.charges).toEqual([])
  })

  // GQL-11
  it('ends with an error without credits, and the socket survives', async () => {
    world.meter.cap = 1_500_000
    const wire = await opened()
    await wire.say(subscribe(FILLS))
    await world.pass(65_000)
    const [error, complete] = wire.next()
    expect(error.payload.errors[0]).toEqual({
      message: expect.stringContaining('Credits exhausted'),
      extensions: { code: 'CREDITS_EXHAUSTED' },
    })
    expect(complete).toEqual({ id: '1', type: 'complete' })
    expect(wire.closed).toBeNull()
    expect(world.subscriptions.size).toBe(0)
  })

  // GQL-11
  it('with broken books ends with an error', async () => {
    const wire = await opened()
    await wire.say(subscribe('subscription { l2BookDiff(coin: "BTC") { data { Snapshot { coin } } } }'))
    await world.subscriptions.settled()
    expect(wire.next()[0].payload.data).toEqual({ l2BookDiff: { data: { Snapshot: { coin: 'BTC' } } } })
    world.block(['BTC'], '!')
    expect(wire.next().map(({ type }) => type)).toEqual(['next', 'complete'])
    expect(world.subscriptions.size).toBe(0)
  })

  // GQL-10
  it('from an expired block reports it and continues', async () => {
    const wire = await opened()
    await wire.say(subscribe(FILLS.replace('user:', 'fromBlock: 3, user:')))
    while (world.work.length > 0) await Promise.all(world.work.splice(0))
    const extensions = { code: 'REPLAY_UNAVAILABLE' }
    const error = { message: expect.stringContaining('block 3'), path: ['userFills'], extensions }
    const payload = { data: { userFills: null }, errors: [error] }
    expect(wire.next()).toEqual([{ id: '1', type: 'next', payload }])
    world.eventBlock({ fills: [EXAMPLE_FILL] })
    expect(wire.next()).toHaveLength(1)
  })

  // GQL-11
  it('that fails internally reports it, and others continue', async () => {
    const wire = await opened()
    const received = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    vi.spyOn(world.subscriptions, 'subscribe').mockRejectedValueOnce(new Error('broken'))
    await wire.say(subscribe(FILLS), subscribe(BOOK, '2'))
    expect(wire.next().map(({ id, type, payload }) => [id, payload?.errors?.[0].extensions.code ?? type])).toEqual([
      ['1', 'INTERNAL'],
      ['1', 'complete'],
    ])
    expect(received).toHaveBeenCalledOnce()
    received.mockRestore()
    world.block(['BTC'])
    expect(wire.next().map(({ id }) => id)).toEqual(['2'])
  })

  // GQL-12
  it('is rejected while others use up the selection limit', async () => {
    const wire = await opened()
    const full = vi.spyOn(SharedPlans.prototype, 'hasRoom').mockReturnValue(false)
    await wire.say(subscribe(FILLS))
    full.mockRestore()
    expect(wire.codes()).toEqual(['UNAVAILABLE', 'complete'])
    expect(world.meter.charges).toEqual([])
  })

  // GQL-12
  it('is rejected beyond a thousand per socket', async () => {
    const wire = await opened()
    const some = Array.from({ length: 1_001 }, (_, at) => subscribe(BOOK, `${at}`))
    for (const one of some) sockets.onMessage(wire as never, JSON.stringify(one))
    expect(wire.next().map(({ id, type, payload }) => payload?.errors?.[0].extensions.code ?? `${id} ${type}`)).toEqual(
      ['RATE_LIMITED', '1000 complete'],
    )
    await settled()
  })
})

describe('a query', () => {
  // GQL-6
  it('of the schema is answered, and any other rejected', async () => {
    const wire = await opened()
    await wire.say(subscribe('{ __typename channels __schema { subscriptionType { name } } }'))
    const channels = CHANNELS.map(({ type }) => type)
    const data = { __typename: 'Query', channels, __schema: { subscriptionType: { name: 'Subscription' } } }
    expect(wire.next()).toEqual([
      { id: '1', type: 'next', payload: { data } },
      { id: '1', type: 'complete' },
    ])
    await wire.say(subscribe('{ userFills { fills } }'), subscribe('mutation { a }', '2'))
    expect(wire.next().map(({ type }) => type)).toEqual(['error', 'error'])
    expect(world.meter.charges).toEqual([])
  })

  // GQL-12
  it('is limited to twenty per second when unbilled', async () => {
    const wire = await opened()
    await wire.say(...Array.from({ length: 30 }, (_, at) => subscribe('{ __typename }', `${at}`)))
    const limited = wire.codes().filter((code) => code === 'RATE_LIMITED')
    expect(limited).toHaveLength(10)
  })

  // GQL-12
  it('is served if it is charged, even after errors', async () => {
    const wire = await opened()
    await wire.say(...Array.from({ length: 80 }, (_, at) => subscribe('{ nothing }', `${at}`)))
    wire.next()
    await wire.say(subscribe(FILLS, 'right'))
    expect([wire.next(), world.meter.charges.length]).toEqual([[], 1])
  })

  // GQL-12
  it('with a long result counts as several', async () => {
    const wire = await opened()
    await wire.say(...Array.from({ length: 5 }, (_, at) => subscribe(getIntrospectionQuery(), `${at}`)))
    const limited = wire.codes().filter((code) => code === 'RATE_LIMITED')
    expect(limited).toHaveLength(2)
  })
})
