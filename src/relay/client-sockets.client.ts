// The client sockets of one relay: who is let in, who each one is, and who has gone quiet or reads too little. Law: a
// socket counts, for its relay and its account, until the platform says that it is no more: one that we closed and its
// client did not still holds what it has not read.

import { type Identity, limiterKey, type StreamToken } from '../accounts/identity.ts'
import { STREAM_TOKEN_EXPIRED, TOKEN_SOCKETS } from '../accounts/stream-token.ts'
import { failureCode, failureMessage } from '../core/failure.ts'
import { RateLimiter } from '../core/rate-limiter.ts'
import { errorFrame, FRESH_FRAME, staleFrame } from '../protocol/relay/frames.ts'
import type { Accounts } from './minutes/account.ts'
import { connectLimit, type Refusal } from './sockets/admission.ts'
import { type ClientAttachment, clientAttachment } from './sockets/attachment.ts'
import type { Clock, Sink } from './sockets/connection.ts'
import { Connection } from './sockets/connection.ts'
import type { RelayUnread } from './sockets/unread.ts'
import type { Subscriptions } from './subscriptions/subscriptions.ts'

/** No frame in either direction. */
const IDLE_MS = 60_000
/** What a relay sends: with more it takes no further sockets. 500 wildcards of 181 KB/s each would be 90 MB/s. */
const MAX_BYTES_PER_SECOND = 32 * 1024 * 1024
const TOKEN_EXPIRED = errorFrame(failureMessage(STREAM_TOKEN_EXPIRED), failureCode(STREAM_TOKEN_EXPIRED))
/** Of its sockets, so many may be without a key. */
const GUEST_SHARE = 1 / 4

export interface ClientSocketsPorts {
  readonly clock: Clock
  readonly accounts: Accounts
  readonly maxSockets: number
  readonly unread: RelayUnread
  readonly subscriptions: Pick<Subscriptions, 'isCrowded' | 'onConnectionEnd'>
  /** Hears of refusals. */
  readonly onRejected?: Connection['onRejected']
}

export class ClientSockets {
  readonly #ports: ClientSocketsPorts
  readonly #bySocket = new Map<WebSocket, Connection>()
  readonly #gate = new RateLimiter()
  readonly #stall = new StallDetector()
  /** Upgrades that wait for their meter. */
  readonly #admitting = new Set<Identity>()
  /** What had been sent at the last look, and how much a second before it. */
  #lastSample: { readonly atMs: number; readonly sent: number }
  #bytesPerSecond = 0

  constructor(ports: ClientSocketsPorts) {
    this.#ports = ports
    this.#lastSample = { atMs: ports.clock.nowMs, sent: 0 }
  }

  get size(): number {
    return this.#bySocket.size
  }

  of(socket: WebSocket): Connection | undefined {
    return this.#bySocket.get(socket)
  }

  /** Whether a socket finds room beside these; some of them may be guests, whose account is not known. */
  hasRoom(guests = 0): boolean {
    const { maxSockets, subscriptions } = this.#ports
    if (guests > maxSockets * GUEST_SHARE || this.#bytesPerSecond > MAX_BYTES_PER_SECOND) return false
    return !subscriptions.isCrowded && this.size + this.#admitting.size + guests < maxSockets
  }

  /** Null where a socket may come in: `enter` follows at once, or its place is lost. Guests choose no relay. */
  async admit(identity: Identity, isGuest = false): Promise<Refusal | null> {
    const { accounts, clock, unread } = this.#ports
    const isHeavy = isGuest ? unread.hasStranded(identity.account) : unread.isRefused(identity.account, clock.nowMs)
    if (isHeavy) return { why: 'heavy', left: 0 }
    if (!this.hasRoom()) return { why: 'full', left: 0 }
    // Again: the gateway counts in each of its isolates alone.
    const { waitMs } = this.#gate.take(limiterKey(identity), connectLimit(identity), clock.nowMs)
    if (waitMs > 0) return { why: 'limit', left: 0, retryAfterMs: waitMs }
    if (identity.token && this.#socketsOf(identity.token) >= TOKEN_SOCKETS) return { why: 'token', left: 0 }
    if (!this.#hasRoomForVisitor(identity)) return { why: 'busy', left: 0 }
    this.#admitting.add(identity)
    const refused = await accounts.of(identity.account).admit(identity)
    this.#admitting.delete(identity)
    return refused
  }

  /** Of the holder of a token, with those that wait. */
  #socketsOf({ holder }: StreamToken): number {
    return this.#count(({ token }) => token?.holder === holder)
  }

  /** Visitors without a key leave room for those who have one. */
  #hasRoomForVisitor({ token }: Identity): boolean {
    const { visitors } = token ?? {}
    return visitors === undefined || this.#count((one) => one.token?.visitors !== undefined) < visitors.sockets
  }

  #count(is: (identity: Identity) => boolean): number {
    const here = [...this.#bySocket.values()].map(({ identity }) => identity)
    return [...here, ...this.#admitting].filter(is).length
  }

  /** A socket that was just let in. */
  add(
    socket: WebSocket,
    id: string,
    identity: Identity,
    product: Connection['product'] = 'stream',
    sink: Sink = socket,
  ): Connection {
    // Terms that changed a moment ago may not have reached the gateway: with 0 they are looked up at the next report.
    const attachment = clientAttachment({ id, identity, terms: 0, isPlaying: false, product })
    socket.serializeAttachment(attachment)
    return this.restore(socket, attachment, sink)
  }

  /** One that outlived the relay's memory: what was played on it did not. */
  restore(socket: WebSocket, attachment: ClientAttachment, sink: Sink = socket): Connection {
    const { id, identity, terms, isPlaying, product } = attachment
    const { clock, accounts, subscriptions, unread } = this.#ports
    const ended = (one: Connection) => subscriptions.onConnectionEnd(one)
    const connection = new Connection(id, { identity, terms }, sink, clock, ended, unread)
    connection.product = product
    connection.onRejected = this.#ports.onRejected ?? null
    connection.persist = () => socket.serializeAttachment(clientAttachment(connection))
    this.#bySocket.set(socket, connection)
    accounts.of(identity.account).add(connection)
    if (isPlaying) connection.end(1012, 'a replay was cut off: reconnect')
    return connection
  }

  /** A block that is newer than any before on its link. */
  onBlock(): void {
    if (this.#stall.onBlock(this.#ports.clock.nowMs)) this.#broadcast(FRESH_FRAME)
  }

  /** The platform says that a socket is no more; false where it is none of these. */
  onClosed(socket: WebSocket): boolean {
    const connection = this.#bySocket.get(socket)
    if (!connection) return false
    this.#bySocket.delete(socket)
    // Nothing is sent any more, and nobody looks until one comes.
    if (this.size === 0) this.#bytesPerSecond = 0
    connection.onClosed()
    this.#ports.accounts.of(connection.identity.account).remove(connection)
    return true
  }

  /** Ends who has gone quiet; to be called every few seconds. `isFollowed`: somebody waits for blocks. */
  check(isFollowed: boolean): void {
    const { clock, unread } = this.#ports
    const { nowMs } = clock
    const stillMs = this.#stall.check(nowMs, isFollowed)
    if (stillMs !== null) this.#broadcast(staleFrame(stillMs))
    for (const connection of this.#bySocket.values()) {
      if (connection.idleMs(nowMs) >= IDLE_MS) connection.end(4408, 'idle: send pings')
      if ((connection.identity.token?.expires ?? nowMs) < nowMs) connection.end(4410, 'token expired', TOKEN_EXPIRED)
    }
    const seconds = (nowMs - this.#lastSample.atMs) / 1000
    if (seconds > 1) {
      this.#bytesPerSecond = (unread.sent - this.#lastSample.sent) / seconds
      this.#lastSample = { atMs: nowMs, sent: unread.sent }
    }
    unread.presumeRead(nowMs)
    unread.enforceWatermark()
  }

  #broadcast(frame: string): void {
    for (const connection of this.#bySocket.values()) connection.send(frame)
  }
}

/** The exchange writes fourteen blocks a second; a feeder that begins anew is back within this. */
export const STALL_MS = 15_000

/**
 * Whether blocks come, for those who wait for them: each is told once where none has come for long, and once when they go on.
 */
export class StallDetector {
  /** When the last block came, or the first was begun to be waited for; null while nobody waits. */
  #lastBlockMs: number | null = null
  #isStalled = false

  /** A block came. True where those who wait had been told that none does. */
  onBlock(nowMs: number): boolean {
    const wasStill = this.#isStalled
    this.#lastBlockMs = nowMs
    this.#isStalled = false
    return wasStill
  }

  /** To be called every few seconds. For how long none has come, once where that is too long; else null. */
  check(nowMs: number, isAwaited: boolean): number | null {
    if (!isAwaited) this.#lastBlockMs = null
    else this.#lastBlockMs ??= nowMs
    if (this.#lastBlockMs === null) this.#isStalled = false
    if (this.#lastBlockMs === null || this.#isStalled || nowMs - this.#lastBlockMs < STALL_MS) return null
    this.#isStalled = true
    return nowMs - this.#lastBlockMs
  }
}
