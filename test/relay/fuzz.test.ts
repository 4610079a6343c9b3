// Frames of all kinds on a socket that carries live subscriptions: those must not notice.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHANNELS } from '../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { ClientFrames } from '../../src/relay/client-frames.client.ts'
import { World } from './world.ts'

const [, FILL] = EXAMPLE_FILL
/** Named by no example. */
const USER = `0x${'9e'.repeat(20)}`
const LIVE = [
  { type: 'userFills', addresses: [USER] },
  { type: 'l2BookDiff2', coin: 'SOL' },
]

const bodies = CHANNELS.map(({ type, example }) => ({ type, ...example.request }))
const body = fc.constantFrom(...bodies)
/** A body with a field that is of another kind, or has no place there. */
const bent = fc
  .tuple(body, fc.nat(5), fc.oneof(fc.jsonValue(), fc.constant(undefined)), fc.string())
  .map(([whole, at, value, name]) => ({ ...whole, [Object.keys(whole)[at] ?? name]: value }))
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
/** Text of a frame from which something was cut, or into which something fell. */
const torn = fc.tuple(frame, fc.nat(400), fc.nat(8), fc.string()).map(([value, at, length, text]) => {
  const whole = JSON.stringify(value)
  return whole.slice(0, at) + text + whole.slice(at + length)
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
test('whatever a client sends beside, live subscriptions get each block once, and the socket lives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 40 }), async (messages) => {
      const world = new World()
      const frames = new ClientFrames({
        gateway: { info: async () => ({ status: 200, body: '{}' }) },
        subscriptions: world.subscriptions,
        waitUntil: (work) => void world.work.push(work),
        toldUpTo: () => 1,
        changed: () => undefined,
      })
      for (const one of LIVE) await world.subscribe(one)
      for (const [tid, message] of messages.entries()) {
        frames.take(world.connection, message)
        await world.connection.drained()
        const before = world.frames.length
        // Without rows of its coin, a body of orders would wait for ever.
        const rows = world.coins.map((coin) => [coin, ''] as const)
        world.eventBlock({ fills: [[USER, { ...FILL, coin: 'none', tid }]] }, rows)
        world.block(['SOL'])
        const come = world.frames.slice(before)
        expect(come.filter(({ channel, fills }) => channel === 'userFills' && fills[0][1].tid === tid)).toHaveLength(1)
        const books = come.filter(({ channel }) => channel === 'l2BookDiff2')
        expect(books.map(({ data }) => data.Updates.book_diffs[0].coin)).toContain('SOL')
      }
      await Promise.all(world.work)
      expect(world.closed).toBeNull()
    }),
    { numRuns: 200 },
  )
})
