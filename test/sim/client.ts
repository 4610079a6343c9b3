// A client in virtual time: the client library on simulated sockets, with the invariants checked for each of its
// subscriptions.

import type { ConnectionStatus } from '../../src/client/api.ts'
import { Connection } from '../../src/client/connection.ts'
import type { ClientRuntime, HttpResponse } from '../../src/client/runtime.ts'
import type { Witness } from './laws.ts'
import type { Reply } from './objects.node.ts'
import type { Schedule } from './schedule.ts'
import {
  type RawFrame,
  type Running,
  RunningBooks,
  RunningEvents,
  RunningTop,
  type Surroundings,
  type Wish,
} from './subscriptions.ts'
import type { End } from './wire.ts'

const AGAIN_MS = 3000

export interface ClientPorts {
  readonly schedule: Schedule
  readonly witness: Witness
  /** Connects to some relay; rejects where it cannot be reached. */
  dial(client: SimClient): Promise<Reply & { readonly relay: number }>
  /** Answers `l2BookDiffSnapshot`. */
  snapshot(coin: string): Promise<HttpResponse>
  isLate(relay: number): boolean
  /** Something of this key and type, with a space between, was served for so long. */
  served(what: string, ms: number): void
  /** Its account has too little. */
  broke(client: SimClient): void
}

export class SimClient {
  readonly name: string
  readonly account: string
  readonly #ports: ClientPorts
  readonly #wishes: readonly Wish[]
  readonly #running = new Map<Wish, Running>()
  readonly #runtime: ClientRuntime
  #connection: Connection
  #end: End | null = null
  #relay = 0
  state: ConnectionStatus['state'] = 'closed'

  constructor(name: string, account: string, wishes: readonly Wish[], ports: ClientPorts) {
    this.name = name
    this.account = account
    this.#ports = ports
    this.#wishes = wishes
    const { schedule } = ports
    this.#runtime = {
      now: () => schedule.nowMs,
      random: schedule.random,
      after: (ms, run) => schedule.after(ms, run),
      open: (_, handlers) => this.#open(handlers),
      post: (_url, _key, body) => ports.snapshot((JSON.parse(body) as { coin: string }).coin),
    }
    this.#connection = this.#newConnection()
  }

  start(): void {
    this.#connection.start()
    for (const wish of this.#wishes) this.#want(wish)
  }

  get wire() {
    return this.#end?.wire ?? null
  }

  toggle(): void {
    const wish = this.#ports.schedule.pick(this.#wishes)!
    const running = this.#running.get(wish)
    if (running) this.#stop(wish, running)
    else this.#want(wish)
  }

  /** Everything that it wishes runs, or is asked for. */
  wantAll(): void {
    if (this.state === 'fatal') this.restart()
    for (const wish of this.#wishes) if (!this.#running.has(wish)) this.#want(wish)
  }

  /** As a program that is started anew. */
  restart(): void {
    this.close()
    this.#connection = this.#newConnection()
    this.start()
  }

  /** For good. */
  close(): void {
    for (const [wish, running] of this.#running) this.#stop(wish, running)
    this.#connection.close()
  }

  /** Null where all that it wishes has come, up to this height. */
  missing(height: number): string | null {
    for (const wish of this.#wishes) {
      const missing = this.#running.get(wish)?.missing(height)
      if (missing === undefined) return `${this.name}: ${JSON.stringify(wish)} is not asked for`
      if (missing !== null) return missing
    }
    return null
  }

  #newConnection(): Connection {
    return new Connection(this.#runtime, {
      endpoint: () => ({ url: 'http://sim', key: this.name }),
      onState: ({ state }) => {
        this.state = state
        if (state === 'fatal') this.#ports.broke(this)
      },
      onNotice: (_, code) => {
        if (code === 'gap')
          for (const running of this.#running.values()) if (running instanceof RunningEvents) running.anew(true)
      },
    })
  }

  #open(handlers: Parameters<ClientRuntime['open']>[1]) {
    let isDropped = false
    let own: End | null = null
    const ended = (status: number | null, code: number | null, reason: string) => {
      if (this.#end === own) this.#end = null
      for (const running of this.#running.values()) running.ended()
      if (!isDropped) handlers.onEnd({ status, code, reason })
    }
    const taken = ({ status, webSocket, relay, body }: Awaited<ReturnType<ClientPorts['dial']>>) => {
      if (!webSocket) return ended(body?.why === 'exhausted' ? 402 : status, null, '')
      if (isDropped) return webSocket.close(1000)
      own = webSocket
      this.#end = own
      this.#relay = relay
      own.addEventListener('message', ({ data }) => !isDropped && this.#hear(handlers, data!))
      own.addEventListener('close', ({ code, reason }) => ended(null, code!, reason ?? ''))
      own.addEventListener('error', () => ended(null, 1006, ''))
      handlers.onOpen()
      own.accept()
    }
    this.#ports.dial(this).then(taken, () => ended(502, null, 'no relay'))
    return {
      send: (text: string) => {
        if (own?.readyState === 1) own.send(text)
      },
      drop: () => {
        isDropped = true
        own?.close(1000)
      },
    }
  }

  #hear(handlers: Parameters<ClientRuntime['open']>[1], text: string): void {
    if (!text.startsWith('{"channel":"l2BookDiff')) return handlers.onText(text)
    const frame = JSON.parse(text) as RawFrame
    for (const running of this.#running.values()) running.comes?.(frame)
    handlers.onText(text)
    for (const running of this.#running.values()) running.seen?.(frame)
  }

  #want(wish: Wish): void {
    const { schedule, witness, isLate, served } = this.#ports
    const refused = (reason: string) => {
      if (/credits/i.test(reason)) this.#ports.broke(this)
      this.#running.delete(wish)
      schedule.after(AGAIN_MS, () => !this.#running.has(wish) && this.state !== 'fatal' && this.#want(wish))
    }
    const around: Surroundings = {
      client: this.name,
      connection: this.#connection,
      runtime: this.#runtime,
      witness,
      isLate: () => isLate(this.#relay),
      served,
      refused,
    }
    const running =
      'books' in wish
        ? new RunningBooks(wish, around)
        : 'bbo' in wish
          ? new RunningTop(wish, around)
          : new RunningEvents(wish, around)
    this.#running.set(wish, running)
  }

  #stop(wish: Wish, running: Running): void {
    this.#running.delete(wish)
    running.close()
  }
}
