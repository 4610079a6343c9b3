// Keeps a connection to the gateway: dials, says hello, passes frames to and from the session, sends a pulse every two
// seconds, and reconnects with backoff.

import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../core/backoff.ts'
import { type GatewayFrame, PULSE_MS, type Pulse } from '../protocol/feed/protocol.ts'
import { type DialFailure, dialError, type LinkError } from './dial-error.ts'
import { FeedSocket } from './feed-socket.node.ts'
import type { FileRange } from './resume-point.ts'
import type { Command, FeedSession } from './session.ts'

/** Maximum bytes buffered in the socket. Nothing more is written above this. */
const BUFFERED_MAX_BYTES = 4 * 1024 * 1024
/**
 * A part of an order-level book is held back while more than this is buffered, so that a block waits for at most one
 * part.
 */
const L4_BUFFERED_MAX_BYTES = 64 * 1024
/**
 * Few feeders connect, and the whole stream waits for them. With this cap, a feeder reconnects within 1.5 s of the
 * gateway's return, including the time to connect.
 */
const RETRY = { firstMs: 100, capMs: 1_300, jitter: 1 }
/** Retry interval of a refused feeder. It retries because an operator may have reset the feed in the meantime. */
const REJECTED_RETRY_MS = 15_000
/** How often a feeder checks for files if there were none when it sent `hello`. */
const FILES_CHECK_MS = 250

interface FeedLinkOptions {
  readonly gatewayUrl: string
  readonly token: string
  readonly chain: string
  readonly name: string
}

interface FeedLinkHost {
  readonly session: FeedSession
  /** Heights in the node's files; null if there are none. */
  range(): Promise<FileRange | null>
  /** The problem with the node's files when range() is null. */
  filesError(): Promise<string>
  /** The content of a pulse. `nowMs`: wall-clock time, which is only reported, because the clock may be set back. */
  pulse(nowMs: number): Omit<Pulse, 'type'>
  /** Called with every command that results from a frame, after the session has handled the frame. */
  onCommand(order: Command): void
  log(message: string): void
  /** A random number, uniform in [0, 1). */
  random(): number
}

export class FeedLink {
  readonly #options: FeedLinkOptions
  readonly #host: FeedLinkHost
  #socket: FeedSocket | null = null
  #timer: NodeJS.Timeout | undefined
  #attempt = 0
  #isStopped = false
  #wasConnected = false
  #pulseTimer: NodeJS.Timeout | undefined
  #lastReported: string | null = null
  /** Number of connections after the first. */
  reconnects = 0
  /** The problem with the node's files; null if the last dial had heights to report. */
  filesError: string | null = null
  /** Why there is no working connection; null while there is one, or before the first dial. */
  error: LinkError | null = null

  constructor(options: FeedLinkOptions, host: FeedLinkHost) {
    this.#options = options
    this.#host = host
  }

  start(): void {
    void this.#dial()
    // Pulses have a separate timer, so that a main loop that waits for the node does not look like a stalled feeder.
    this.#pulseTimer = setInterval(() => this.#sendPulse(), PULSE_MS)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearInterval(this.#pulseTimer)
    this.#socket?.close()
  }

  /** Sends the session's pending frames, as many as the socket accepts. */
  flush(nowMs: number): void {
    if (!this.#socket) return
    const room = BUFFERED_MAX_BYTES - this.#socket.buffered
    for (const text of this.#host.session.drain(nowMs, room)) this.#socket.send(text)
    const part = this.#socket.buffered < L4_BUFFERED_MAX_BYTES ? this.#host.session.takeL4Part(nowMs) : null
    if (part !== null) this.#socket.send(part)
  }

  /** Drops a silent connection. Call about once a second. */
  tick(nowMs: number): void {
    const why = this.#host.session.overdueReason(nowMs)
    if (why) this.#socket?.drop(why)
  }

  async #dial(): Promise<void> {
    const range = await this.#readRange()
    if (this.#isStopped) return
    if (range) this.filesError = null
    const { chain, name, gatewayUrl, token } = this.#options
    const { session } = this.#host
    const heights = { first: range?.first ?? null, head: range?.head ?? null }
    const socket = new FeedSocket(gatewayUrl, token, {
      onOpen: () => socket.send(session.onOpen({ chain, feeder: name, ...heights }, performance.now())),
      onFrame: (frame) => this.#onFrame(frame),
      onUnreadable: (why) => this.#host.log(`the gateway sent an unreadable frame: ${why}`),
      onClose: (why, dial) => this.#onClose(why, dial),
    })
    this.#socket = socket
    if (!range) void this.#reconnectOnceFilesExist(socket)
  }

  /** Heights in the node's files; logs what is wrong when there are none. */
  async #readRange(): Promise<FileRange | null> {
    const range = await this.#host.range().catch(() => null)
    if (range) return range
    const files = await this.#host.filesError().catch(String)
    if (files !== this.filesError) this.#host.log(files)
    this.filesError = files
    return null
  }

  /**
   * Connects before the node has files, so that the token is checked and the feeder is visible. Once the node has
   * files, it reconnects to report their heights.
   */
  async #reconnectOnceFilesExist(socket: FeedSocket): Promise<void> {
    while (this.#socket === socket && !this.#isStopped) {
      await sleep(FILES_CHECK_MS)
      if (await this.#readRange()) return socket.close('the node has files now; reconnecting to report them')
    }
  }

  #sendPulse(): void {
    const text = this.#host.session.encodePulse(this.#host.pulse(Date.now()), performance.now())
    if (text !== null) this.#socket?.send(text)
  }

  #onFrame(frame: GatewayFrame): void {
    const now = performance.now()
    if (frame.type === 'welcome') {
      this.#attempt = 0
      if (this.#wasConnected) this.reconnects++
      this.#wasConnected = true
      this.error = null
      this.#lastReported = null
    }
    for (const order of this.#host.session.onFrame(frame, now)) {
      if (order.do === 'refused')
        this.error = { state: 'refused by the gateway', why: order.reason, retryMs: REJECTED_RETRY_MS }
      this.#host.onCommand(order)
    }
    if (frame.type === 'welcome') this.#sendPulse()
    this.flush(now)
  }

  #onClose(why: string, dial: DialFailure | null): void {
    const { session } = this.#host
    const { phase } = session
    session.onClose()
    this.#socket = null
    if (this.#isStopped) return
    if (dial) this.error = dialError(dial, new URL(this.#options.gatewayUrl).host)
    else if (phase === 'greeting') this.error = { state: 'cannot reach the gateway', why, retryMs: null }
    const message = (dial && this.error?.why) ?? `the connection to the gateway closed: ${why}`
    if (message !== this.#lastReported) this.#host.log(message)
    this.#lastReported = message
    this.#scheduleDial(this.error?.retryMs ?? backoffMs(RETRY, this.#attempt++, this.#host.random()))
  }

  #scheduleDial(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#dial(), delayMs)
  }

  /** Closes a refused connection after REJECTED_RETRY_MS, so that the feeder dials again. */
  retryLater(): void {
    this.#timer = setTimeout(() => this.#socket?.close(), REJECTED_RETRY_MS)
  }
}
