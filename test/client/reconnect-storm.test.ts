// A thousand clients whose sockets all end at once, as in a deploy, and a gateway that serves one upgrade after another,
// abandoned ones too.

import { expect, it } from 'vitest'
import { Connection } from '../../src/client/connection.ts'
import type { ClientRuntime, SocketHandlers } from '../../src/client/runtime.ts'
import { allFillsBody } from '../../src/client/subscription.ts'
import { seededRandom } from '../kit/random.ts'

const CLIENTS = 1_000
/** A small machine: 50 upgrades a second. */
const UPGRADE_MS = 20
const ENDPOINT = { url: 'http://127.0.0.1', key: 'k' }

class Storm {
  nowMs = 0
  readonly #timers = new Map<number, Set<() => void>>()
  readonly #upgrades: { readonly handlers: SocketHandlers; isAbandoned: boolean }[] = []
  abandoned = 0

  readonly #after = (ms: number, run: () => void) => {
    const atMs = Math.ceil(this.nowMs + Math.max(1, ms))
    const due = this.#timers.get(atMs) ?? new Set()
    this.#timers.set(atMs, due.add(run))
    return () => void due.delete(run)
  }

  runtime(seed: number): ClientRuntime {
    return {
      now: () => this.nowMs,
      random: seededRandom(seed),
      after: this.#after,
      open: (_, handlers) => {
        const upgrade = { handlers, isAbandoned: false }
        this.#upgrades.push(upgrade)
        return {
          send: (text) => this.#acknowledge(handlers, JSON.parse(text) as { method: string; subscription?: object }),
          drop: () => {
            upgrade.isAbandoned = true
          },
        }
      },
      post: () => Promise.reject(new Error('no requests')),
    }
  }

  #acknowledge(handlers: SocketHandlers, { method, subscription }: { method: string; subscription?: object }): void {
    const reply =
      method === 'ping' ? { channel: 'pong' } : { channel: 'subscriptionResponse', data: { method, subscription } }
    this.#after(1, () => handlers.onText(JSON.stringify(reply)))
  }

  run(isOver: () => boolean, withinMs: number): void {
    while (!isOver() && this.nowMs < withinMs) {
      this.nowMs++
      for (const run of this.#timers.get(this.nowMs) ?? []) run()
      this.#timers.delete(this.nowMs)
      if (this.nowMs % UPGRADE_MS === 0) this.#serve()
    }
  }

  #serve(): void {
    const next = this.#upgrades.shift()
    if (next === undefined) return
    if (next.isAbandoned) this.abandoned++
    else next.handlers.onOpen()
  }
}

it('serves all clients soon after a gateway has ended all sockets', () => {
  const storm = new Storm()
  const live = new Set<number>()
  for (let client = 0; client < CLIENTS; client++) {
    const connection = new Connection(storm.runtime(client), { endpoint: () => ENDPOINT })
    connection.subscribe(allFillsBody(), { live: () => live.add(client), frame: () => {}, refused: () => {} })
    connection.start()
  }
  storm.run(() => live.size === CLIENTS, 300_000)
  expect(live.size).toBe(CLIENTS)
  // Without abandoned upgrades, it would take 20 s.
  expect(storm.nowMs).toBeLessThan(90_000)
})
