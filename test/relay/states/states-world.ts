// One relay's states, with scripted responses and time.

import { deflateRawSync } from 'node:zlib'
import type { Fill } from '../../../src/protocol/feed/block.ts'
import type { InfoRequest } from '../../../src/relay/channel.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { StateFanout } from '../../../src/relay/states/state-fanout.ts'
import { statesTarget } from '../targets.ts'

const TICK_MS = 250

// biome-ignore lint/suspicious/noExplicitAny: frames of a test are looked into freely.
type Frame = any

export class Socket {
  readonly frames: Frame[] = []
  waitMs = 0
  snapshotWaitMs(): number {
    return this.waitMs
  }
  send(text: string): void {
    this.frames.push(JSON.parse(text))
  }
}

export class StatesWorld {
  nowMs = 0
  /** Times of each request. */
  readonly requests: { readonly request: InfoRequest; readonly atMs: number }[] = []
  /** Requests in flight. */
  flying = 0
  answer: (request: InfoRequest) => unknown = () => ({ at: this.nowMs })
  deflate = async (text: string) => deflateRawSync(text).toString('base64')
  readonly failures: string[] = []
  #timers: { readonly atMs: number; readonly run: () => void }[] = []
  /** Users whose order statuses are subscribed. */
  readonly orders = new Set<string>()
  readonly fanout = new StateFanout<Socket>(
    {
      clock: this,
      read: async (request) => {
        this.requests.push({ request, atMs: this.nowMs })
        this.flying++
        const value = await this.answer(request)
        this.flying--
        return value === null ? null : { body: JSON.stringify(value) }
      },
      after: (ms, run) => {
        this.#timers.push({ atMs: this.nowMs + ms, run })
        return () => undefined
      },
      deflate: (text) => this.deflate(text),
      waitUntil: (work) => void work.catch((error) => this.failures.push(`unhandled ${error}`)),
      onDeflateError: (what, error) => this.failures.push(`${what}: ${error}`),
    },
    {
      addOrderUsers: ([user]) => void this.orders.add(user!),
      removeOrderUsers: ([user]) => void this.orders.delete(user!),
    },
  )

  async subscribe(body: { type: string; [field: string]: unknown }, account = 'a'): Promise<Socket> {
    const socket = new Socket()
    this.fanout.add(JSON.stringify(body), statesTarget(body), socket, account)
    await this.settled()
    return socket
  }

  leave(body: { type: string; [field: string]: unknown }, socket: Socket): void {
    this.fanout.remove(JSON.stringify(body), socket)
  }

  /** A block with a fill or an order status of this user. */
  async happen(user: string, what: 'fill' | 'order' = 'fill'): Promise<void> {
    const fill: Fill = EXAMPLE_FILL[1]
    const more = what === 'fill' ? { fills: [[user, fill] as [string, Fill]] } : { fills: [], orders: [{ user }] }
    this.fanout.deliver({ v: 1, t: 'events', height: 1, time: this.nowMs, ledger: [], ...more })
    await this.settled()
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.nowMs += TICK_MS
      const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs)
      this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs)
      for (const { run } of due) run()
      await this.settled()
    }
  }

  timesOf(type: string): number[] {
    return this.requests.filter(({ request }) => request.type === type).map(({ atMs }) => atMs)
  }

  settled(): Promise<unknown> {
    return new Promise((done) => setImmediate(done))
  }
}
