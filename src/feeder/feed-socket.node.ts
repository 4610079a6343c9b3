// One WebSocket to the gateway's /feed: dials, pings, parses. The owner decides when to reconnect.

import { WebSocket } from 'ws'
import { parseJson } from '../core/json.ts'
import { GatewayFrame } from '../protocol/feed/protocol.ts'
import type { DialFailure } from './dial-error.ts'

const HANDSHAKE_TIMEOUT_MS = 5_000
const PING_EVERY_MS = 2_500
const PONG_TIMEOUT_MS = 5_000
/** How long to wait for the other side's close frame. The library would wait 30 s. */
const CLOSE_TIMEOUT_MS = 250
const FRAME_MAX_BYTES = 4 * 1024 * 1024

interface FeedSocketEvents {
  onOpen(): void
  onFrame(frame: GatewayFrame): void
  /** Called for a frame that violates the protocol. The frame is otherwise ignored. */
  onUnreadable(why: string): void
  /** Called exactly once. `dial`: why the socket never opened. */
  onClose(why: string, dial: DialFailure | null): void
}

export class FeedSocket {
  readonly #socket: WebSocket
  readonly #events: FeedSocketEvents
  readonly #pingTimer: NodeJS.Timeout
  readonly #liveness = new LivenessMonitor(
    { checkEveryMs: PING_EVERY_MS, timeoutMs: PONG_TIMEOUT_MS },
    performance.now(),
  )
  #repliesToPings = false
  #isOpened = false
  #closeReason = ''
  #dialFailure: DialFailure | null = null
  #isEnded = false

  /** `gatewayUrl`: http(s):// or ws(s)://, with or without a path before `/feed`. */
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
      this.#isOpened = true
      events.onOpen()
    })
    this.#socket.on('message', (data) => this.#onMessage(String(data)))
    this.#socket.on('pong', () => {
      this.#liveness.onReceived(performance.now())
      this.#repliesToPings = true
    })
    this.#socket.on('unexpected-response', (request, { statusCode: status = 0, headers }) => {
      this.#dialFailure = { kind: 'answered', status, retryAfter: headers['retry-after'] }
      request.destroy()
      this.#finish('')
    })
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#closeReason ||= error.message
      if (!this.#isOpened) this.#dialFailure ??= { kind: 'failed', code: error.code ?? '', message: error.message }
    })
    this.#socket.on('close', (code) => this.#finish(this.#closeReason || `close code ${code}`))
    this.#pingTimer = setInterval(() => this.#ping(), PING_EVERY_MS)
  }

  /** Buffered bytes that were not yet passed to the operating system. */
  get buffered(): number {
    return this.#socket.bufferedAmount
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
  }

  /** Drops the connection now; `onClose` follows. */
  drop(why: string): void {
    this.#closeReason ||= why
    this.#socket.terminate()
    this.#finish(this.#closeReason)
  }

  /** Closes the connection, by force after a short wait; `onClose` follows. */
  close(why = ''): void {
    this.#closeReason ||= why
    this.#socket.close(1000)
    setTimeout(() => this.drop('closed by the feeder'), CLOSE_TIMEOUT_MS).unref()
  }

  #onMessage(text: string): void {
    this.#liveness.onReceived(performance.now())
    const value = parseJson(text)
    if (value === undefined) return this.#events.onUnreadable('not JSON')
    const frame = GatewayFrame.safeParse(value)
    if (frame.success) this.#events.onFrame(frame.data)
    else this.#events.onUnreadable(frame.error.issues[0]?.message ?? 'unknown frame')
  }

  #ping(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const isAlive = this.#liveness.isAlive(performance.now())
    // A server that has never replied to a ping is judged by its acknowledgements only.
    if (this.#repliesToPings && !isAlive) this.drop('the gateway does not reply to pings')
    else this.#socket.ping()
  }

  #finish(why: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#pingTimer)
    this.#events.onClose(why, this.#dialFailure)
  }
}

/**
 * Detects a dead connection. Time during which this process itself stalled does not count, because frames that arrived
 * then are still unread. All times are milliseconds of one monotonic clock.
 */
export class LivenessMonitor {
  readonly #checkEveryMs: number
  readonly #timeoutMs: number
  #checkedMs: number
  #receivedMs: number

  constructor({ checkEveryMs, timeoutMs }: { checkEveryMs: number; timeoutMs: number }, nowMs: number) {
    this.#checkEveryMs = checkEveryMs
    this.#timeoutMs = timeoutMs
    this.#checkedMs = nowMs
    this.#receivedMs = nowMs
  }

  onReceived(nowMs: number): void {
    this.#receivedMs = nowMs
  }

  /** Call every `checkEveryMs`. */
  isAlive(nowMs: number): boolean {
    const lateMs = Math.max(0, nowMs - this.#checkedMs - this.#checkEveryMs)
    this.#checkedMs = nowMs
    this.#receivedMs += lateMs
    return nowMs - this.#receivedMs <= this.#timeoutMs
  }
}
