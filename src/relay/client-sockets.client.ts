// The client sockets of one relay: admission, identity, idle and slow clients. Invariant: a socket counts for its relay
// and account until the platform reports it closed, because a socket that we closed still holds its unread data.

import { type Identity, limiterKey, type StreamToken } from '../accounts/identity.ts'
import { shownType } from '../accounts/refused-calls.ts'
import { STREAM_TOKEN_EXPIRED, TOKEN_SOCKETS } from '../accounts/stream-token.ts'
import { failureCode, failureMessage } from '../core/failure.ts'
import { RateLimiter } from '../core/rate-limiter.ts'
import { infoStatus } from '../protocol/failure-wire.ts'
import { errorFrame, FRESH_FRAME, staleFrame } from '../protocol/relay/frames.ts'
import type { Accounts } from './minutes/account.ts'
import { connectLimit, type Refusal } from './sockets/admission.ts'
import { type ClientAttachment, clientAttachment } from './sockets/attachment.ts'
import { closeStatus } from './sockets/close-status.ts'
import type { Clock, Sink } from './sockets/connection.ts'
import { Connection } from './sockets/connection.ts'
import type { RelayUnread } from './sockets/unread.ts'
import type { Subscriptions } from './subscriptions/subscriptions.ts'

/** How long a socket may be idle, with no frame in either direction. */
const IDLE_MS = 60_000
/** Send rate above which the relay accepts no more sockets. 500 wildcards at 181 KB/s each would be 90 MB/s. */
const MAX_BYTES_PER_SECOND = 32 * 1024 * 1024
const TOKEN_EXPIRED = errorFrame(failureMessage(STREAM_TOKEN_EXPIRED), failureCode(STREAM_TOKEN_EXPIRED))
/** Close code of a connection that was lost. */
const LOST_CLOSE = 1006
/** Share of the relay's sockets that may have no key. */
const GUEST_SHARE = 1 / 4

export interface ClientSocketsPorts {
  readonly clock: Clock
  readonly accounts: Accounts
  readonly maxSockets: number
  readonly unread: RelayUnread
  readonly subscriptions: Pick<Subscriptions, 'isCrowded' | 'onConnectionEnd'>
  /** Called for every rejection. */
  readonly onRejected?: Connection['onRejected']
}

export class ClientSockets {
  readonly #ports: ClientSocketsPorts
  readonly #bySocket = new Map<WebSocket, Connection>()
  readonly #gate = new RateLimiter()
  readonly #stall = new StallDetector()
  /** Upgrades that wait for their meter. */
  readonly #admitting = new Set<Identity>()
  /** Bytes sent until the last check, and the rate at that time. */
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

  /** Whether there is room for one more socket, with `guests` sockets whose account is not known yet. */
  hasRoom(guests = 0): boolean {
    const { maxSockets, subscriptions } = this.#ports
    if (guests > maxSockets * GUEST_SHARE || this.#bytesPerSecond > MAX_BYTES_PER_SECOND) return false
    return !subscriptions.isCrowded && this.size + this.#admitting.size + guests < maxSockets
  }

  /**
   * Returns null if the socket may enter. Call `add` right after it, or the slot is lost. Guests do not choose their
   * relay.
   */
  async admit(identity: Identity, isGuest = false): Promise<Refusal | null> {
    const { accounts, clock, unread } = this.#ports
    const isHeavy = isGuest ? unread.hasStranded(identity.account) : unread.isRefused(identity.account, clock.nowMs)
    if (isHeavy) return { why: 'heavy', left: 0 }
    if (!this.hasRoom()) return { why: 'full', left: 0 }
    // Checked again here, because each gateway isolate counts only its own requests.
    const { waitMs } = this.#gate.take(limiterKey(identity), connectLimit(identity), clock.nowMs)
    if (waitMs > 0) return { why: 'limit', left: 0, retryAfterMs: waitMs }
    if (identity.token && this.#socketsOf(identity.token) >= TOKEN_SOCKETS) return { why: 'token', left: 0 }
    if (!this.#hasRoomForVisitor(identity)) return { why: 'busy', left: 0 }
    this.#admitting.add(identity)
    const refused = await accounts.of(identity.account).admit(identity)
    this.#admitting.delete(identity)
    return refused
  }

  /** Number of sockets of a token's holder, including those being admitted. */
  #socketsOf({ holder }: StreamToken): number {
    return this.#count(({ token }) => token?.holder === holder)
  }

  /** Visitors without a key leave room for keyed clients. */
  #hasRoomForVisitor({ token }: Identity): boolean {
    const { visitors } = token ?? {}
    return visitors === undefined || this.#count((client) => client.token?.visitors !== undefined) < visitors.sockets
  }

  #count(matches: (identity: Identity) => boolean): number {
    const here = [...this.#bySocket.values()].map(({ identity }) => identity)
    return [...here, ...this.#admitting].filter(matches).length
  }

  /** Adds a socket that was just admitted. */
  add(
    socket: WebSocket,
    id: string,
    identity: Identity,
    product: Connection['product'] = 'stream',
    sink: Sink = socket,
  ): Connection {
    // The gateway may not have the latest terms yet. Version 0 makes the relay look them up at the next report.
    const attachment = clientAttachment({ id, identity, terms: 0, isPlaying: false, product })
    socket.serializeAttachment(attachment)
    const connection = this.restore(socket, attachment, sink)
    this.#ports.accounts.of(identity.account).log(connection, { type: 'connect', status: 101, code: '' })
    return connection
  }

  /** Restores a socket that outlived the relay's memory. Its replays did not. */
  restore(socket: WebSocket, attachment: ClientAttachment, sink: Sink = socket): Connection {
    const { id, identity, terms, isPlaying, product } = attachment
    const { clock, accounts, subscriptions, unread } = this.#ports
    const ended = (client: Connection) => subscriptions.onConnectionEnd(client)
    const connection = new Connection(id, { identity, terms }, sink, clock, ended, unread)
    connection.product = product
    connection.onRejected = (rejected, type, failure) => {
      const event = { type: shownType(type), status: infoStatus(failure.kind), code: failureCode(failure) }
      accounts.of(identity.account).log(rejected, event)
      this.#ports.onRejected?.(rejected, type, failure)
    }
    connection.persist = () => socket.serializeAttachment(clientAttachment(connection))
    this.#bySocket.set(socket, connection)
    accounts.of(identity.account).add(connection)
    if (isPlaying) connection.end(1012, 'replay interrupted, reconnect')
    return connection
  }

  /** Called for each block that is newer than all earlier blocks on its link. */
  onBlock(): void {
    if (this.#stall.onBlock(this.#ports.clock.nowMs)) this.#broadcast(FRESH_FRAME)
  }

  /**
   * The platform reports a socket closed. `clientCode`: the client's close code. Returns false for a socket of another
   * kind.
   */
  onClosed(socket: WebSocket, clientCode = LOST_CLOSE): boolean {
    const connection = this.#bySocket.get(socket)
    if (!connection) return false
    this.#bySocket.delete(socket)
    // Nothing is sent now, and no check runs until a socket arrives.
    if (this.size === 0) this.#bytesPerSecond = 0
    connection.onClosed()
    const account = this.#ports.accounts.of(connection.identity.account)
    const closed = connection.closeCode ?? clientCode
    const status = closeStatus(closed)
    account.log(connection, { type: 'close', status, code: status < 400 ? '' : `close_${closed}` })
    account.remove(connection)
    return true
  }

  /** Ends idle sockets. Call it every few seconds. `isFollowed`: some subscription waits for blocks. */
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
    unread.enforceWatermark(nowMs)
  }

  #broadcast(frame: string): void {
    for (const connection of this.#bySocket.values()) connection.send(frame)
  }
}

/**
 * Without new blocks for this long, the feed counts as stalled. The exchange writes fourteen blocks a second, and a
 * feeder restarts in less time.
 */
export const STALL_MS = 15_000

/** Detects that no blocks arrive while someone waits for them. Reports each stall once, and its end once. */
export class StallDetector {
  /** Time of the last block or of the first wait; null while nobody waits. */
  #lastBlockMs: number | null = null
  #isStalled = false

  /** Returns true if this block ends a reported stall. */
  onBlock(nowMs: number): boolean {
    const wasStill = this.#isStalled
    this.#lastBlockMs = nowMs
    this.#isStalled = false
    return wasStill
  }

  /** Call it every few seconds. Returns the stall's duration once when it is too long, else null. */
  check(nowMs: number, isAwaited: boolean): number | null {
    if (!isAwaited) this.#lastBlockMs = null
    else this.#lastBlockMs ??= nowMs
    if (this.#lastBlockMs === null) this.#isStalled = false
    if (this.#lastBlockMs === null || this.#isStalled || nowMs - this.#lastBlockMs < STALL_MS) return null
    this.#isStalled = true
    return nowMs - this.#lastBlockMs
  }
}
