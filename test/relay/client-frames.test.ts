// Frames of clients: which are refused before they are served, and how their senders find out.

import { expect, test, vi } from 'vitest'
import type { Identity } from '../../src/accounts/identity.ts'
import { ClientFrames } from '../../src/relay/client-frames.client.ts'
import { Backlog } from '../../src/relay/sockets/backlog.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'
import type { Subscriptions } from '../../src/relay/subscriptions/subscriptions.ts'

const identity: Identity = { v: 1, account: 'a', keyHash: 'k', kind: 'api', plan: 'entry', products: ['info'] }

/** A relay's frames, served when `open` is called, and sockets of accounts. */
function world() {
  const gate = Promise.withResolvers<void>()
  const served: unknown[] = []
  const subscribe = async (_: Connection, frame: unknown) => {
    await gate.promise
    served.push(frame)
  }
  const subscriptions = { subscribe, backlog: new Backlog() } as unknown as Subscriptions
  const frames = new ClientFrames({
    gateway: {
      info: async (_, text) => ({ status: 200, body: '{}', ignored: text.includes('Dex') ? 'Dex' : undefined }),
    },
    subscriptions,
    waitUntil: () => undefined,
    toldUpTo: () => 9,
    changed: () => undefined,
  })
  const client = (account: string) => {
    const sent: { data: string; code?: string }[] = []
    const sink = { send: (text: string) => sent.push(JSON.parse(text)), close: () => undefined }
    const own = { identity: { ...identity, account }, terms: 0 }
    const connection = new Connection('c', own, sink, { nowMs: 0 }, () => undefined)
    return { connection, sent, take: (frame: object) => frames.take(connection, JSON.stringify(frame)) }
  }
  return { client, served, open: gate.resolve }
}
const body = { type: 'l2BookDiff', coin: 'BTC' }

// WS-8
test('a frame over the rate is refused so that its sender finds what it waits for', () => {
  const { sent, take } = world().client('a')
  for (let i = 0; i < 2000; i++) take({ method: 'ping' })
  sent.length = 0
  take({ method: 'post', id: 7, request: { type: 'info', payload: { type: 'meta' } } })
  take({ method: 'subscribe', subscription: body })
  take({ method: 'ping' })
  take({ method: 'post', id: 8, request: { type: 'info', payload: 'x'.repeat(5000) } })
  expect(sent.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'rate_limited'))
  const [post, subscribe, ping, long] = sent.map(({ data }) => data)
  expect(post).toMatch(/^Too many messages: .* id=7$/)
  expect(subscribe).toMatch(/^Invalid subscription {"type":"l2BookDiff","coin":"BTC"}: Too many messages/)
  expect([ping, long]).toEqual(Array.from({ length: 2 }, () => expect.stringMatching(/slow down\.$/)))
})

// WS-63
test('what waits to be served is bounded for an account and for all, and served in its order', async () => {
  const { client, served, open } = world()
  const sockets = ['a', 'a', 'b', 'c', 'd', 'e'].map(client)
  const large = { method: 'subscribe', subscription: { ...body, pad: 'x'.repeat(60_000) } }
  for (const { take } of sockets) for (let i = 0; i < 40; i++) take(large)
  const waiting = sockets.map(({ sent }) => 40 - sent.length)
  expect(waiting).toEqual([34, 0, 34, 34, 34, 2])
  expect(sockets[1]!.sent[0]).toMatchObject({
    code: 'rate_limited',
    data: expect.stringContaining('wait to be served'),
  })
  open()
  for (const { connection } of sockets) await connection.drained()
  expect(served).toHaveLength(34 * 4 + 2)
  sockets[5]!.take(large)
  await sockets[5]!.connection.drained()
  expect(served).toHaveLength(34 * 4 + 3)
})

// WS-7
test('of ignored fields a socket hears once, behind the answer of the frame', async () => {
  const { client, served, open } = world()
  const { connection, sent, take } = client('a')
  take({ method: 'ping', id: 1 })
  expect(sent).toMatchObject([{ channel: 'pong' }, { channel: 'notification', code: 'ignored_field' }])
  take({ method: 'ping', id: 2 })
  expect(sent.slice(2)).toEqual([{ channel: 'pong' }])
  const subscribe = { method: 'subscribe', subscription: body, id: 3 }
  take(subscribe)
  take(subscribe)
  expect([served, sent.slice(3)]).toEqual([[], []])
  open()
  await connection.drained()
  expect(served).toEqual(Array.from({ length: 2 }, () => ({ method: 'subscribe', subscription: body })))
  const notification = 'Unknown fields of a subscribe frame were ignored: "id". Remove or rename them.'
  expect(sent.slice(3)).toEqual([{ channel: 'notification', data: { notification }, code: 'ignored_field' }])
  sent.length = 0
  for (let i = 0; i < 100; i++) take({ method: 'ping', [`x${i}`]: 1 })
  expect(sent.filter(({ code }) => code === 'ignored_field')).toHaveLength(14)
})

// WS-7, WS-14
test('a field that belongs elsewhere in the frame buys nothing', async () => {
  const { client, served, open } = world()
  const { connection, sent, take } = client('a')
  open()
  for (const name of ['dex', 'coin', 'user', 'interval']) take({ method: 'subscribe', subscription: body, [name]: 'x' })
  await connection.drained()
  expect(served).toEqual([])
  expect(sent.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'invalid_request'))
})

// WS-7
test('of ignored fields of a request that a post carries its socket hears behind the answer', async () => {
  const { sent, take } = world().client('a')
  take({ method: 'post', id: 7, request: { type: 'info', payload: { type: 'meta', Dex: 'xyz' } } })
  await vi.waitFor(() => expect(sent).toHaveLength(2))
  const notification = 'Unknown fields of an info request were ignored: Dex.'
  expect(sent).toMatchObject([{ channel: 'post' }, { data: { notification }, code: 'ignored_field' }])
})
