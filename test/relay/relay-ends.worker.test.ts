// What a relay sends to silent clients, invalid clients, and after lost blocks.

import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, test, vi } from 'vitest'
import { TOKEN_SOCKETS, VISITOR_MINUTES } from '../../src/accounts/stream-token.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { ClientSockets, STALL_MS, StallDetector } from '../../src/relay/client-sockets.client.ts'
import { deflate } from '../../src/relay/post.client.ts'
import { LIGHT } from '../../src/relay/sockets/unread.ts'
import { FakeFeeder } from '../block-log/fake-feeder.worker.ts'
import { identityOf } from '../kit/identity.ts'
import { Client, type Frame, knock, meter } from './stream-client.worker.ts'

let relay = ''
let count = 0
beforeEach(async () => {
  relay = `${env.CHAIN}/ends/${++count}`
  await meter(relay).grantCredits('g', 1_000_000_000)
})

// WS-11
it('closes a socket that was silent for a minute with 4408', async () => {
  const client = await Client.connect(relay, relay)
  const began = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    for (const seconds of [30, 59]) {
      vi.setSystemTime(began + seconds * 1000)
      await runDurableObjectAlarm(env.RELAY.getByName(relay))
    }
    expect(client.closed).toBeNull()
    vi.setSystemTime(Date.now() + 2_000)
    await runDurableObjectAlarm(env.RELAY.getByName(relay))
    expect(await client.closing()).toEqual({ code: 4408, reason: 'idle: send pings' })
  } finally {
    vi.useRealTimers()
  }
})

// WS-6
it('rejects a binary frame and survives', async () => {
  const client = await Client.connect(relay, relay)
  client.sendBytes(new TextEncoder().encode('{"method":"ping"}'))
  expect(await client.refused()).toMatchObject({ code: 'invalid_json' })
  client.send({ method: 'ping' })
  expect(await client.next(({ channel }) => channel === 'pong')).toEqual({ channel: 'pong' })
})

// WS-6
it.each([
  ['text', 'x'.repeat(65_537)],
  ['binary', new Uint8Array(65_537)],
])('closes with 1009 at a %s frame over 64 KiB', async (_, frame) => {
  const client = await Client.connect(relay, relay)
  if (typeof frame === 'string') client.send(frame)
  else client.sendBytes(frame)
  expect((await client.refused()).data).toMatch(/^frame: /)
  expect(await client.closing()).toMatchObject({ code: 1009 })
})

// WS-10, WS-60
it('answers a ping that has a nonce with a fresh nonce, and answers a plain ping as before', async () => {
  const client = await Client.connect(relay, relay)
  const pong = () => client.next(({ channel }) => channel === 'pong')
  client.send({ method: 'ping', nonce: '' })
  const first = await pong()
  client.send({ method: 'ping', nonce: first.nonce })
  const second = await pong()
  client.send({ method: 'ping' })
  expect([first.nonce.length, second.nonce === first.nonce, await pong()]).toEqual([36, false, { channel: 'pong' }])
})

// WS-65
it('notifies a client that reads four fifths of its data, and closes it later, in virtual time', async () => {
  const client = await Client.connect(relay, relay, { plan: 'enterprise' })
  const began = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  let second = 0
  let read = 0
  let nonce = ''
  let noticedAt = 0
  try {
    for (let budget = 0; client.closed === null && second < 240; ) {
      second += 2
      vi.setSystemTime(began + second * 1000)
      for (let i = 0; i < 5; i++) client.send({ method: 'unsubscribe', subscription: { type: 'x', i } })
      client.send({ method: 'ping', nonce })
      const isDone = () =>
        client.closed !== null || client.frames.filter(({ channel }) => channel === 'pong').length * 2 === second
      await vi.waitFor(() => expect(isDone()).toBe(true), { timeout: 10_000, interval: 5 })
      if (noticedAt === 0 && client.frames.some(({ code }) => code === 'late')) noticedAt = second
      // Of each six frames that arrive, one is a pong.
      for (budget += 6 * 0.8; budget >= 1 && read < client.frames.length; budget--) {
        const frame = client.frames[read++]
        if (frame.channel === 'pong') nonce = frame.nonce
      }
    }
  } finally {
    vi.useRealTimers()
  }
  const notices = client.frames.filter(({ channel }) => channel === 'notification')
  expect(notices).toEqual([
    expect.objectContaining({ code: 'late', data: { notification: expect.stringContaining('10 s') } }),
  ])
  expect(notices[0].age_ms).toBeGreaterThanOrEqual(10_000)
  expect(client.closed).toEqual({ code: 4413, reason: 'unread data is too old' })
  // The client reads each two seconds, so it is 10 s late after 40 to 60 s, and 30 s late after 140 to 160 s.
  expect([noticedAt >= 40 && noticedAt < 60, second >= 140 && second < 160]).toEqual([true, true])
})

/** Makes the relay send a socket too much unread data. */
async function flood(client: Client): Promise<void> {
  const frame = JSON.stringify({ method: 'unsubscribe', subscription: { type: 'x', more: 'y'.repeat(4_000) } })
  for (let sent = 0; sent < LIGHT.bytes + 1_000_000 && !client.closed; sent += 4096) client.send(frame)
  await client.closing()
}

// WS-12, WS-62
it('moves only clients with too much unread data', async () => {
  const client = await Client.connect(relay, relay, { plan: 'enterprise' })
  await flood(client)
  expect(client.closed).toMatchObject({ code: 1013 })
  expect(await (await knock(relay, relay)).json()).toEqual({ why: 'heavy', left: 0 })
  await meter(`${relay} b`).grantCredits('g', 1_000_000_000)
  expect((await knock(relay, `${relay} b`)).status).toBe(101)
})

// WS-35
it('notifies event subscribers of lost blocks', async () => {
  const log = env.BLOCK_LOG.getByName(env.CHAIN)
  await log.reset()
  const feeder = await FakeFeeder.connect()
  feeder.hello(1, 1)
  await feeder.next('welcome')
  feeder.block(1, null)
  await feeder.acked(1)
  const client = await Client.connect(relay, relay)
  await client.subscribe({ type: 'allFills' })
  feeder.send({ type: 'gone', first: 5 })
  expect(await client.refused()).toMatchObject({ code: 'gap' })
  feeder.close()
})

const CREDIT = 1_000_000
const token = { holder: 'visitor', coins: ['BTC'], channels: ['trades', 'l2BookDiff2'], expires: Date.now() + 600_000 }

async function relayOf(name: string): Promise<string> {
  const relay = `${env.CHAIN}/tokens/${name}`
  await meter(relay).grantCredits('g', 1000 * CREDIT)
  return relay
}

// WS-162
it('limits the sockets of a visitor, without affecting another visitor', async () => {
  const relay = await relayOf('many')
  const answers = await Promise.all(Array.from({ length: 20 }, () => knock(relay, relay, { token })))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 101)).toHaveLength(TOKEN_SOCKETS)
  const refused = answers.find(({ status }) => status === 503)!
  expect(await refused.json()).toMatchObject({ why: 'token' })
  const other = await knock(relay, relay, { token: { ...token, holder: 'other' } })
  expect(other.status).toBe(101)
  for (const { webSocket } of [...answers, other]) {
    webSocket?.accept()
    webSocket?.close()
  }
})

// WS-163
it('ends with 4410 when its token expires, even after hibernation', async () => {
  const relay = await relayOf('over')
  const stub = env.RELAY.getByName(relay)
  const lasting = await Client.connect(relay, relay, { token: { ...token, holder: 'lasting' } })
  const client = await Client.connect(relay, relay, { token: { ...token, expires: Date.now() - 1 } })
  await evictDurableObject(stub, { webSockets: 'hibernate' })
  await runDurableObjectAlarm(stub)
  expect(await client.closing()).toEqual({ code: 4410, reason: 'token expired' })
  expect(client.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unauthorized' })
  expect(lasting.closed).toBeNull()
  lasting.close(1000, '')
})

// WS-161
it('rejects other coins and channels in an error frame, without charge', async () => {
  const relay = await relayOf('others')
  const client = await Client.connect(relay, relay, { token })
  const bodies = [
    { type: 'trades', coin: 'ETH' },
    { type: 'l2BookDiff2' },
    { type: 'userFills', user: `0x${'a'.repeat(40)}` },
    { type: 'l4Book', coin: 'BTC' },
  ]
  for (const subscription of bodies) {
    client.send({ method: 'subscribe', subscription })
    const frame = await client.refused()
    expect(frame.code).toBe('forbidden')
    expect(frame.data).toContain(JSON.stringify(subscription))
  }
  expect(client.closed).toBeNull()
  expect((await meter(relay).balance()).spent).toBe(0)
  client.close(1000, '')
})

const visitors = { perHour: 60_000 * CREDIT, sockets: 3 }

it("limits visitor sockets to the operator's setting", async () => {
  const relay = await relayOf('crowd')
  const asVisitor = (holder: string) => knock(relay, relay, { token: { ...token, holder, visitors } })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => asVisitor(`visitor ${i}`)))
  expect(answers.filter(({ status }) => status === 101)).toHaveLength(visitors.sockets)
  expect(await answers.find(({ status }) => status === 503)!.json()).toMatchObject({ why: 'busy' })
  const own = await knock(relay, relay, {})
  const ofPage = await knock(relay, relay, { token })
  expect([own.status, ofPage.status]).toEqual([101, 101])
  for (const { webSocket } of [...answers, own, ofPage]) {
    webSocket?.accept()
    webSocket?.close()
  }
})

it("limits a visitor's starts per minute over all sockets", async () => {
  const relay = await relayOf('busy')
  const asVisitor = (holder: string) => Client.connect(relay, relay, { token: { ...token, holder, visitors } })
  const [one, two, other] = await Promise.all([asVisitor('greedy'), asVisitor('greedy'), asVisitor('modest')])
  const subscription = { type: 'trades', coin: 'BTC' }
  const beganMs = Date.now()
  // A restarted stream uses up its visitor's share, though its minute is paid.
  for (let i = 0; i < 70; i++)
    for (const client of [one, two]) {
      client.send({ method: 'subscribe', subscription })
      client.send({ method: 'unsubscribe', subscription })
    }
  other.send({ method: 'subscribe', subscription })
  await expect.poll(() => [one, two].map(({ frames }) => frames.length), { timeout: 10_000 }).toEqual([140, 140])
  const all = [...one.frames, ...two.frames]
  const acks = all.filter(({ channel, data }) => channel === 'subscriptionResponse' && data.method === 'subscribe')
  const refilled = ((Date.now() - beganMs) / 60_000) * VISITOR_MINUTES.quota
  expect(acks.length).toBeGreaterThanOrEqual(VISITOR_MINUTES.quota)
  expect(acks.length).toBeLessThanOrEqual(VISITOR_MINUTES.quota + refilled)
  expect(all.find(({ code }) => code === 'rate_limited')).toMatchObject({ channel: 'error' })
  await expect.poll(() => other.frames.length).toBeGreaterThan(0)
  expect(other.frames[0]).toMatchObject({ channel: 'subscriptionResponse' })
  for (const client of [one, two, other]) {
    expect(client.closed).toBeNull()
    client.close(1000, '')
  }
})

const identity = identityOf('entry', ['stream'])

// WS-3
test("limits meter requests per key in 10 s to the plan's connections, even if isolates let more through", async () => {
  const clock = { nowMs: 1_000 }
  let requests = 0
  const subscriptions = { isCrowded: false }
  const admit = async () => {
    requests++
    return { why: 'limit', left: 0 }
  }
  const ports = {
    clock,
    accounts: { of: () => ({ admit }) },
    maxSockets: 1_000,
    subscriptions,
    unread: { isRefused: () => false },
  }
  const sockets = new ClientSockets(ports as never)
  for (let i = 0; i < 150; i++) expect(await sockets.admit(identity)).toEqual({ why: 'limit', left: 0 })
  expect(await sockets.admit(identity)).toEqual({ why: 'limit', left: 0, retryAfterMs: 67 })
  expect(requests).toBe(150)
  expect(await sockets.admit({ ...identity, keyHash: keyHashOf('other') })).not.toHaveProperty('retryAfterMs')
  clock.nowMs += 10_000
  for (let i = 0; i < 300; i++) await sockets.admit(identity)
  expect(requests).toBe(301)
  subscriptions.isCrowded = true
  expect(await sockets.admit({ ...identity, keyHash: keyHashOf('other') })).toEqual({ why: 'full', left: 0 })
})

test('a relay that sent too much accepts sockets again once it has none', async () => {
  const clock = { nowMs: 1_000 }
  const nothing = () => {}
  const unread = {
    sent: 0,
    isRefused: () => false,
    presumeRead: nothing,
    enforceWatermark: nothing,
    add: () => ({ onClosed: nothing }),
  }
  const account = { admit: async () => null, add: nothing, remove: nothing, log: nothing }
  const ports = {
    clock,
    accounts: { of: () => account },
    maxSockets: 9,
    subscriptions: { isCrowded: false, onConnectionEnd: nothing },
    unread,
  }
  const sockets = new ClientSockets(ports as never)
  const socket = { serializeAttachment: () => {}, send: () => {}, close: () => {} } as unknown as WebSocket
  sockets.add(socket, 'one', identity)
  clock.nowMs += 5_000
  unread.sent = 1e9
  sockets.check(false)
  expect(await sockets.admit(identity)).toEqual({ why: 'full', left: 0 })
  sockets.onClosed(socket)
  expect(await sockets.admit(identity)).toBeNull()
})

// WS-108
test('reports a stall once, its end once, and nothing without subscribers', () => {
  const stall = new StallDetector()
  expect(stall.check(0, false)).toBeNull()
  expect(stall.check(STALL_MS * 2, true)).toBeNull()
  expect(stall.onBlock(STALL_MS * 2 + 5)).toBe(false)
  expect(stall.check(STALL_MS * 3, true)).toBeNull()
  expect(stall.check(STALL_MS * 3 + 5, true)).toBe(STALL_MS)
  expect(stall.check(STALL_MS * 4, true)).toBeNull()
  expect(stall.onBlock(STALL_MS * 5)).toBe(true)
  expect(stall.onBlock(STALL_MS * 5)).toBe(false)
  expect(stall.check(STALL_MS * 6, true)).toBe(STALL_MS)
  expect(stall.check(STALL_MS * 7, false)).toBeNull()
  expect(stall.check(STALL_MS * 8, true)).toBeNull()
})

const RELAY = `${env.CHAIN}/test/states`
const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const log = () => env.BLOCK_LOG.getByName(env.CHAIN)

const readsOf = (frames: readonly Frame[], user: string) =>
  frames.filter(({ channel, data }) => channel === 'clearinghouseState' && data.user === user)
const next = async (client: Client, user: string): Promise<number> =>
  (await client.next((frame) => readsOf([frame], user).length > 0)).data.clearinghouseState.reads

// WS-140
it('one poll after an event serves both sockets, and polling stops without subscribers', async () => {
  await meter(RELAY).grantCredits('g', 1_000_000_000)
  await log().reset()
  const feeder = await FakeFeeder.connect()
  feeder.hello(99, 99)
  await feeder.next('welcome')
  feeder.snapshot(99, [])
  feeder.block(100, [])
  await feeder.acked(100)
  const body = { type: 'clearinghouseState', user: A, dex: '' }
  const clients = [await Client.connect(RELAY, RELAY), await Client.connect(RELAY, RELAY)]
  const [one, two] = clients as [Client, Client]
  await one.subscribe(body)
  expect(await next(one, A)).toBe(1)
  await two.subscribe(body)
  const second = await next(two, A)
  expect(await next(one, A)).toBe(second)
  await expect.poll(async () => (await log().status()).readers.some(({ name }) => name === RELAY)).toBe(true)
  feeder.block(101, [], { fills: [[A, EXAMPLE_FILL[1]]] })
  expect([await next(one, A), await next(two, A)]).toEqual([second + 1, second + 1])
  for (const client of clients) {
    client.send({ method: 'unsubscribe', subscription: body })
    await client.next(({ channel, data }) => channel === 'subscriptionResponse' && data.method === 'unsubscribe')
  }
  feeder.block(102, [], { fills: [[A, EXAMPLE_FILL[1]]] })
  await feeder.acked(102)
  await two.subscribe({ ...body, user: B })
  await next(two, B)
  for (const { frames } of clients) expect(readsOf(frames, A)).toEqual([])
  for (const client of clients) client.close(1000, '')
  feeder.close()
})

// WS-144
it('deflates a string so that the platform can inflate it', async () => {
  const text = '{"BTC":{"markPx":"81307.0","midPx":null}}'.repeat(1_000)
  const bytes = Uint8Array.from(atob(await deflate(text)), (char) => char.charCodeAt(0))
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  expect(await new Response(unpacked).text()).toBe(text)
})
