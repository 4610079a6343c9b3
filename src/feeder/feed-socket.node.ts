// One WebSocket to the gateway's /feed: dial, ping, parse. It decides nothing; whoever holds it reconnects.

import { WebSocket } from 'ws'
import { parseJson } from '../core/json.ts'
import { GatewayFrame } from '../protocol/feed/protocol.ts'
import type { DialFailure } from './gateway-words.ts'

const HANDSHAKE_TIMEOUT_MS = 5_000
const PING_EVERY_MS = 2_500
const PONG_TIMEOUT_MS = 5_000
/** The library would wait half a minute for the other side's goodbye. */
const CLOSE_TIMEOUT_MS = 250
const FRAME_MAX_BYTES = 4 * 1024 * 1024

interface FeedSocketEvents {
  opened(): void
  frame(frame: GatewayFrame): void
  /** A frame that does not follow the protocol; it is otherwise ignored. */
  unreadable(why: string): void
  /** Exactly once. `dial`: it never opened, because of this. */
  closed(why: string, dial: DialFailure | null): void
}

export class FeedSocket {
  readonly #socket: WebSocket
  readonly #events: FeedSocketEvents
  readonly #pings: NodeJS.Timeout
  readonly #answering = new Answering({ lookEveryMs: PING_EVERY_MS, patienceMs: PONG_TIMEOUT_MS }, performance.now())
  #answersPings = false
  #opened = false
  #why = ''
  #dial: DialFailure | null = null
  #ended = false

  /** `gatewayUrl` is http(s):// or ws(s)://, with or without a path before `/feed`. */
  constructor(gatewayUrl: string, token: string, events: FeedSocketEvents) {
    this.#events = events
    const url = `${gatewayUrl.replace(/^http/, 'ws').replace(/\/(?:feed\/?)?$/, '')}/feed`
    this.#socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: FRAME_MAX_BYTES,
      perMessageDeflate: false,
    })
    this.#socket.on('open', () => {
      this.#opened = true
      events.opened()
    })
    this.#socket.on('message', (data) => this.#message(String(data)))
    this.#socket.on('pong', () => {
      this.#answering.heard(performance.now())
      this.#answersPings = true
    })
    this.#socket.on('unexpected-response', (request, { statusCode: status = 0, headers }) => {
      this.#dial = { kind: 'answered', status, retryAfter: headers['retry-after'] }
      request.destroy()
      this.#end('')
    })
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#why ||= error.message
      if (!this.#opened) this.#dial ??= { kind: 'failed', code: error.code ?? '', message: error.message }
    })
    this.#socket.on('close', (code) => this.#end(this.#why || `closed with ${code}`))
    this.#pings = setInterval(() => this.#ping(), PING_EVERY_MS)
  }

  /** Bytes handed over and not yet with the system. */
  get buffered(): number {
    return this.#socket.bufferedAmount
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
  }

  /** Gives the connection up at once; `closed` follows. */
  drop(why: string): void {
    this.#why ||= why
    this.#socket.terminate()
    this.#end(this.#why)
  }

  /** Closes in order, or soon without; `closed` follows. */
  close(why = ''): void {
    this.#why ||= why
    this.#socket.close(1000)
    setTimeout(() => this.drop('closed by us'), CLOSE_TIMEOUT_MS).unref()
  }

  #message(text: string): void {
    this.#answering.heard(performance.now())
    const value = parseJson(text)
    if (value === undefined) return this.#events.unreadable('not JSON')
    const frame = GatewayFrame.safeParse(value)
    if (frame.success) this.#events.frame(frame.data)
    else this.#events.unreadable(frame.error.issues[0]?.message ?? 'unknown frame')
  }

  #ping(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const answers = this.#answering.look(performance.now())
    // A server that never answers pings is judged by its acknowledgements alone.
    if (this.#answersPings && !answers) this.drop('the gateway answers no ping')
    else this.#socket.ping()
  }

  #end(why: string): void {
    if (this.#ended) return
    this.#ended = true
    clearInterval(this.#pings)
    this.#events.closed(why, this.#dial)
  }
}

/**
 * Whether the other side of a connection still answers. Time in which we stood still ourselves proves nothing, since what came
 * meanwhile is yet to be read. Milliseconds of one monotonic clock.
 */
export class Answering {
  readonly #lookEveryMs: number
  readonly #patienceMs: number
  #lookedMs: number
  #heardMs: number

  constructor({ lookEveryMs, patienceMs }: { lookEveryMs: number; patienceMs: number }, nowMs: number) {
    this.#lookEveryMs = lookEveryMs
    this.#patienceMs = patienceMs
    this.#lookedMs = nowMs
    this.#heardMs = nowMs
  }

  heard(nowMs: number): void {
    this.#heardMs = nowMs
  }

  /** To be called every `lookEveryMs`. */
  look(nowMs: number): boolean {
    const lateMs = Math.max(0, nowMs - this.#lookedMs - this.#lookEveryMs)
    this.#lookedMs = nowMs
    this.#heardMs += lateMs
    return nowMs - this.#heardMs <= this.#patienceMs
  }
}
