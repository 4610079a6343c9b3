// Keeps a connection to the gateway: dials, greets, hands frames to the session, sends what the session has, and
// dials again with backoff whenever it ends.

import { backoffMs } from '../core/backoff.ts'
import type { GatewayFrame } from '../feed/protocol.ts'
import { FeedSocket } from './feed-socket.node.ts'
import type { FileRange } from './resume-point.ts'
import type { FeedSession, Order } from './session.ts'

/** No more is handed to the socket while this much of it is not yet with the system. */
const BUFFERED_MAX_BYTES = 4 * 1024 * 1024
/**
 * A feeder is alone or one of few, and the whole stream waits for it: with the time of a dial itself the cap brings it
 * back within 1.5 s of the gateway's return.
 */
const RETRY = { firstMs: 100, capMs: 1_300, jitter: 1 }
/** A refused feeder asks again this late: an operator may have reset the feed. */
const REFUSED_RETRY_MS = 15_000
const NO_FILES_RETRY_MS = 250

interface FeedLinkOptions {
  readonly gatewayUrl: string
  readonly token: string
  readonly chain: string
  readonly name: string
}

interface FeedLinkHost {
  readonly session: FeedSession
  /** Heights in the node's files, null while there are none. */
  range(): Promise<FileRange | null>
  /** Called with every order that a frame led to, after the session took the frame. */
  order(order: Order): void
  say(sentence: string): void
  /** Uniform in [0, 1). */
  random(): number
}

export class FeedLink {
  readonly #options: FeedLinkOptions
  readonly #host: FeedLinkHost
  #socket: FeedSocket | null = null
  #timer: NodeJS.Timeout | undefined
  #attempt = 0
  #stopped = false
  #wasUp = false
  /** Connections after the first that were welcomed. */
  reconnects = 0
  /** False while the node has no files to speak of. */
  hasFiles = true

  constructor(options: FeedLinkOptions, host: FeedLinkHost) {
    this.#options = options
    this.#host = host
  }

  start(): void {
    void this.#dial()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#socket?.close()
  }

  /** Sends what the session has ready, as far as the socket takes it. */
  flush(nowMs: number): void {
    if (!this.#socket) return
    const room = BUFFERED_MAX_BYTES - this.#socket.buffered
    for (const text of this.#host.session.drain(nowMs, room)) this.#socket.send(text)
  }

  /** Gives up a connection that went silent. Called about once a second. */
  tick(nowMs: number): void {
    const why = this.#host.session.overdue(nowMs)
    if (why) this.#socket?.drop(why)
  }

  async #dial(): Promise<void> {
    const range = await this.#host.range().catch(() => null)
    if (this.#stopped) return
    this.hasFiles = range !== null
    if (!range) {
      this.#again(NO_FILES_RETRY_MS)
      return
    }
    const { chain, name, gatewayUrl, token } = this.#options
    const { session } = this.#host
    const socket = new FeedSocket(gatewayUrl, token, {
      opened: () => socket.send(session.opened({ chain, feeder: name, ...range }, Date.now())),
      frame: (frame) => this.#frame(frame),
      unreadable: (why) => this.#host.say(`the gateway sent a frame that cannot be read: ${why}`),
      closed: (why) => this.#closed(why),
    })
    this.#socket = socket
  }

  #frame(frame: GatewayFrame): void {
    const now = Date.now()
    if (frame.type === 'welcome') {
      this.#attempt = 0
      if (this.#wasUp) this.reconnects++
      this.#wasUp = true
    }
    for (const order of this.#host.session.received(frame, now)) this.#host.order(order)
    this.flush(now)
  }

  #closed(why: string): void {
    const { session } = this.#host
    const { phase } = session
    session.closed()
    this.#socket = null
    if (this.#stopped) return
    if (phase === 'flowing' || this.#attempt === 0) this.#host.say(`the connection to the gateway ended: ${why}`)
    this.#again(phase === 'refused' ? REFUSED_RETRY_MS : backoffMs(RETRY, this.#attempt++, this.#host.random()))
  }

  #again(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#dial(), delayMs)
  }

  /** Ends a refused connection, so that the next one may be welcomed. */
  retryLater(): void {
    this.#timer = setTimeout(() => this.#socket?.close(), REFUSED_RETRY_MS)
  }
}
