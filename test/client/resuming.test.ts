import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Connection } from '../../src/client/connection.ts'
import { SeenFrames } from '../../src/client/seen-frames.ts'
import type { SubscriptionBody } from '../../src/client/subscription.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { FakeRuntime, type FakeSocket } from './fake-runtime.ts'

const BODIES: readonly SubscriptionBody[] = [{ type: 'allFills' }, { type: 'userFills', addresses: [EXAMPLE_FILL[0]] }]
const [USER, FILL] = EXAMPLE_FILL

/** Each block has a fill whose `tid` is its height. */
const frame = (channel: string, tid: number) => ({ channel, fills: [[USER, { ...FILL, tid }]] })

/** The gateway's side of one socket. A replayed body has its next height. */
class Gateway {
  readonly next = new Map<string, number>()
  readonly #socket: FakeSocket
  constructor(socket: FakeSocket) {
    this.#socket = socket
  }

  /** Serves the next request that is or is not a ping. Pings do not wait for charged requests. */
  serve(isPing: boolean, head: number): void {
    const { sent } = this.#socket
    const at = sent.findIndex(({ method }) => (method === 'ping') === isPing)
    const [request] =
      at < 0 ? [] : (sent.splice(at, 1) as unknown as { subscription: SubscriptionBody; fromBlock?: number }[])
    if (!request) return
    if (isPing) {
      const owes = [...this.next.values()].some((next) => next !== head + 1)
      return this.#socket.receive({ channel: 'pong', nonce: 'n', ...(!owes && { block_height: head }) })
    }
    const { subscription, fromBlock = head + 1 } = request
    this.next.set(subscription.type, fromBlock)
    this.#socket.receive({ channel: 'subscriptionResponse', data: { method: 'subscribe', subscription } })
  }

  /** Sends a body one of its pending blocks. */
  tell(type: string, head: number): void {
    const next = this.next.get(type)
    if (next === undefined || next > head) return
    this.next.set(type, next + 1)
    this.#socket.receive(frame(type, next))
  }
}

// WS-23, WS-60
test('delivers each event once and in order, wherever sockets die', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('serve' as const) },
    { weight: 3, arbitrary: fc.constant('pong' as const) },
    { weight: 4, arbitrary: fc.constantFrom(...BODIES.map(({ type }) => type)) },
    { weight: 3, arbitrary: fc.constant('block' as const) },
    { weight: 2, arbitrary: fc.constant('ping' as const) },
    { weight: 1, arbitrary: fc.constantFrom('die' as const, 'fall' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const runtime = new FakeRuntime()
      const seen = new Map<string, number[]>(BODIES.map(({ type }) => [type, []]))
      const connection = new Connection(runtime, { endpoint: () => ({ url: 'http://one/', key: 'k' }), pingMs: 10 })
      let head = 100
      for (const body of BODIES) {
        const tids = seen.get(body.type)!
        connection.subscribe(body, {
          live: () => undefined,
          lost: () => tids.splice(0),
          refused: () => undefined,
          frame: (one) =>
            'fills' in one && tids.push(...(one.fills as [string, { tid: number }][]).map(([, f]) => f.tid)),
        })
      }
      connection.start()
      const open = () => {
        runtime.last.open()
        return new Gateway(runtime.last)
      }
      let gateway = open()
      for (const one of steps) {
        if (one === 'serve' || one === 'pong') gateway.serve(one === 'pong', head)
        else if (one === 'block') head++
        else if (one === 'ping') runtime.advance(10)
        else if (one === 'die' || one === 'fall') {
          // Events that were not durable are resent after the feeder sent them again.
          if (one === 'fall') head -= 3
          runtime.last.end({ code: 1006 })
          runtime.advance(1500)
          gateway = open()
        } else gateway.tell(one, head)
      }
      for (const tids of seen.values()) expect(tids).toEqual(tids.map((_, i) => tids[0]! + i))
    }),
    { numRuns: 500 },
  )
})

// WS-60
test('remembers nothing without heights, and a bounded amount when heights stop', () => {
  const seen = new SeenFrames()
  expect([seen.isNew('c', 'a'), seen.resume(), seen.isNew('c', 'a')]).toEqual([true, undefined, true])
  seen.onHeight(7)
  expect([seen.isNew('c', 'a'), seen.resume(), seen.isNew('c', 'a')]).toEqual([true, 8, false])
  seen.isNew('c', 'x'.repeat(40 * 1024 * 1024))
  expect(seen.resume()).toBeUndefined()
  seen.onHeight(9)
  expect(seen.resume()).toBe(10)
})

test('forgets what a lagging gateway does not resend after enough blocks', () => {
  const seen = new SeenFrames()
  seen.onHeight(7)
  seen.isNew('c', 'a')
  seen.resume()
  for (const height of [7, 900]) seen.onHeight(height)
  expect(seen.isNew('c', 'a')).toBe(false)
  seen.isNew('c', 'b')
  seen.resume()
  for (const height of [900, 1_901]) seen.onHeight(height)
  expect(seen.isNew('c', 'b')).toBe(true)
})
