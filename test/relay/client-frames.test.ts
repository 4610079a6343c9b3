// Frames of clients: which are rejected before they are served, and how their senders find out.

import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { CHANNELS } from '../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { ClientFrames } from '../../src/relay/client-frames.client.ts'
import { handlePost, withFairQueue } from '../../src/relay/post.client.ts'
import { Backlog } from '../../src/relay/sockets/backlog.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'
import type { Subscriptions } from '../../src/relay/subscriptions/subscriptions.ts'
import { identityOf } from '../kit/identity.ts'
import { World } from './world.ts'

const identity = identityOf('entry', ['info'])

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
    sentHeight: () => 9,
    onChange: () => undefined,
  })
  const client = (account: string) => {
    const sent: { channel?: string; data: string; code?: string }[] = []
    const sink = { send: (text: string) => sent.push(JSON.parse(text)), close: () => undefined }
    const own = { identity: { ...identity, account }, terms: 0 }
    const connection = new Connection('c', own, sink, { nowMs: 0 }, () => undefined)
    return { connection, sent, take: (frame: object) => frames.handle(connection, JSON.stringify(frame)) }
  }
  return { client, served, open: gate.resolve }
}
const body = { type: 'l2BookDiff', coin: 'BTC' }

// WS-8
test('rejects a frame over the rate limit so that its sender can match the error', () => {
  const { sent, take } = world().client('a')
  for (let i = 0; i < 2000; i++) take({ method: 'ping' })
  sent.length = 0
  take({ method: 'post', id: 7, request: { type: 'info', payload: { type: 'meta' } } })
  take({ method: 'subscribe', subscription: body })
  take({ method: 'ping' })
  take({ method: 'post', id: 8, request: { type: 'info', payload: 'x'.repeat(5000) } })
  expect(sent.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'rate_limited'))
  expect(sent[0]!.data).toMatch(/ id=7$/)
  expect(sent[1]!.data).toMatch(/^Invalid subscription {"type":"l2BookDiff","coin":"BTC"}: /)
})

// WS-63
test('bounds pending requests per account and in total, and serves them in order', async () => {
  const { client, served, open } = world()
  const sockets = ['a', 'a', 'b', 'c', 'd', 'e'].map(client)
  const large = { method: 'subscribe', subscription: { ...body, pad: 'x'.repeat(60_000) } }
  for (const { take } of sockets) for (let i = 0; i < 40; i++) take(large)
  const waiting = sockets.map(({ sent }) => 40 - sent.length)
  expect(waiting).toEqual([34, 0, 34, 34, 34, 2])
  expect(sockets[1]!.sent[0]).toMatchObject({ code: 'rate_limited' })
  open()
  for (const { connection } of sockets) await connection.drained()
  expect(served).toHaveLength(34 * 4 + 2)
  sockets[5]!.take(large)
  await sockets[5]!.connection.drained()
  expect(served).toHaveLength(34 * 4 + 3)
})

// WS-7
test('reports ignored fields once per socket, after the response', async () => {
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
  expect(sent.slice(3)).toMatchObject([{ channel: 'notification', code: 'ignored_field' }])
  sent.length = 0
  for (let i = 0; i < 100; i++) take({ method: 'ping', [`x${i}`]: 1 })
  expect(sent.filter(({ code }) => code === 'ignored_field')).toHaveLength(14)
})

// WS-7, WS-14
test('a misplaced field costs nothing', async () => {
  const { client, served, open } = world()
  const { connection, sent, take } = client('a')
  open()
  for (const name of ['dex', 'coin', 'user', 'interval']) take({ method: 'subscribe', subscription: body, [name]: 'x' })
  await connection.drained()
  expect(served).toEqual([])
  expect(sent.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'invalid_request'))
})

// WS-7
test('reports ignored fields of a posted request after its response', async () => {
  const { sent, take } = world().client('a')
  take({ method: 'post', id: 7, request: { type: 'info', payload: { type: 'meta', Dex: 'xyz' } } })
  await vi.waitFor(() => expect(sent).toHaveLength(2))
  expect(sent).toMatchObject([{ channel: 'post' }, { channel: 'notification', code: 'ignored_field' }])
})

describe('`post`', () => {
  const postOf =
    (connection: Connection, gateway: Parameters<typeof handlePost>[2]) =>
    (id: number, type = 'info') =>
      handlePost(connection, { method: 'post', id, request: { type, payload: { type: 'meta' } } }, gateway)

  // WS-43, WS-44
  test('accepts only info, for allowed callers, sixteen at a time, and reports the status of a failure', async () => {
    const { connection, sent } = world().client('a')
    const gate = Promise.withResolvers<void>()
    const info = async () => {
      await gate.promise
      return { status: 422, body: '{"msg":"coin: is wrong"}' }
    }
    const post = postOf(connection, { info })
    const refusal = (payload: unknown) => ({ response: { type: 'error', payload } })
    await post(0, 'action')
    expect(sent.pop()?.data).toMatchObject(refusal(expect.stringMatching(/^400: /)))
    const requests = Array.from({ length: 16 }, (_, i) => post(i + 1))
    await post(17)
    expect(sent).toEqual([{ channel: 'error', data: 'too many pending post requests id=17', code: 'rate_limited' }])
    gate.resolve()
    await Promise.all(requests)
    expect(sent.at(-1)).toMatchObject({ channel: 'post', data: { id: 16, ...refusal('422: coin: is wrong') } })
    await post(18)
    expect(sent.at(-1)?.data).toMatchObject({ id: 18 })
    const pages = [{ nextCursor: 'r-1' }, {}].map((page) => ({
      info: async () => ({ status: 200, body: '[]', ...page }),
    }))
    for (const page of pages) await postOf(connection, page)(20)
    const payload = { type: 'meta', data: [] }
    expect(sent.slice(-2).map(({ data }) => data)).toEqual(
      [{ ...payload, nextCursor: 'r-1' }, payload].map((answer) => ({
        id: 20,
        response: { type: 'info', payload: answer },
      })),
    )
    connection.renew({ ...identity, products: ['stream'] }, 1)
    await post(19)
    expect(sent.at(-1)?.data).toMatchObject(refusal(expect.stringMatching(/^403: /)))
  })

  // WS-44
  test('limits concurrent info requests per account across sockets, with fair turns', async () => {
    const gate = Promise.withResolvers<void>()
    const requests: string[] = []
    const gateway = withFairQueue({
      info: async ({ account }) => {
        requests.push(account)
        await gate.promise
        return { status: 200, body: '{}' }
      },
    })
    const accounts = [...Array.from({ length: 40 }, () => 'crowd'), 'other']
    const posts = accounts.map((account) => postOf(world().client(account).connection, gateway)(1))
    await new Promise((resolve) => setTimeout(resolve))
    expect(requests).toEqual([...accounts.slice(0, 16), 'other'])
    gate.resolve()
    await Promise.all(posts)
    expect(requests).toHaveLength(41)
  })
})

describe('random frames on a socket with live subscriptions', () => {
  const [, FILL] = EXAMPLE_FILL
  /** Named by no example. */
  const USER = `0x${'9e'.repeat(20)}`
  const LIVE = [
    { type: 'userFills', addresses: [USER] },
    { type: 'l2BookDiff2', coin: 'SOL' },
  ]
  const body = fc.constantFrom(...CHANNELS.map(({ type, example }) => ({ type, ...example.request })))
  /** A body with a field of the wrong type or in the wrong place. */
  const bent = fc
    .tuple(body, fc.nat(5), fc.oneof(fc.jsonValue(), fc.constant(undefined)), fc.string())
    .map(([frame, at, value, name]) => ({ ...frame, [Object.keys(frame)[at] ?? name]: value }))
  const method = fc.constantFrom('subscribe', 'unsubscribe', 'ping', 'post', 'toString', '__proto__', '')
  const frame = fc.record(
    {
      method: fc.oneof(method, fc.jsonValue()),
      subscription: fc.oneof(body, bent, fc.jsonValue()),
      id: fc.oneof(fc.integer(), fc.jsonValue()),
      request: fc.jsonValue(),
      nonce: fc.oneof(fc.string(), fc.jsonValue()),
      meta: fc.oneof(fc.boolean(), fc.jsonValue()),
      fromBlock: fc.oneof(fc.integer(), fc.jsonValue()),
      dex: fc.jsonValue(),
      from_block: fc.jsonValue(),
      ['x'.repeat(5_000)]: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  /** A frame's text with parts removed or inserted. */
  const torn = fc.tuple(frame, fc.nat(400), fc.nat(8), fc.string()).map(([value, at, length, text]) => {
    const frame = JSON.stringify(value)
    return frame.slice(0, at) + text + frame.slice(at + length)
  })
  const sent = fc.oneof(
    frame.map((value) => JSON.stringify(value)),
    torn,
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.nat(3000).map((depth) => '['.repeat(depth)),
    fc.uint8Array().map((bytes) => bytes.slice().buffer),
  )

  // WS-6
  test('live subscriptions get each block once and the socket survives, whatever a client sends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 40 }), async (messages) => {
        const world = new World()
        const frames = new ClientFrames({
          gateway: { info: async () => ({ status: 200, body: '{}' }) },
          subscriptions: world.subscriptions,
          waitUntil: (work) => void world.work.push(work),
          sentHeight: () => 1,
          onChange: () => undefined,
        })
        for (const one of LIVE) await world.subscribe(one)
        for (const [tid, message] of messages.entries()) {
          frames.handle(world.connection, message)
          await world.connection.drained()
          const before = world.frames.length
          // Without rows of its coin, an order body would wait forever.
          const rows = world.coins.map((coin) => [coin, ''] as const)
          world.eventBlock({ fills: [[USER, { ...FILL, coin: 'none', tid }]] }, rows)
          world.block(['SOL'])
          const come = world.frames.slice(before)
          const fills = come.filter(({ channel, fills }) => channel === 'userFills' && fills[0][1].tid === tid)
          expect(fills).toHaveLength(1)
          const books = come.filter(({ channel }) => channel === 'l2BookDiff2')
          expect(books.map(({ data }) => data.Updates.book_diffs[0].coin)).toContain('SOL')
        }
        await Promise.all(world.work)
        expect(world.closed).toBeNull()
      }),
      { numRuns: 200 },
    )
  })
})
