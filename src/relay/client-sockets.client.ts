// The client sockets of one relay: who is let in, who each one is, and who has gone quiet or reads too little. Law: a
// socket counts, for its relay and its account, until the platform says that it is no more: one that we closed and its
// client did not still holds what it has not read.

import { counted, type Identity, type StreamToken } from '../accounts/identity.ts'
import { TOKEN_ENDED, TOKEN_SOCKETS } from '../accounts/stream-token.ts'
import { failureCode, failureMessage } from '../core/failure.ts'
import { Gate } from '../core/gate.ts'
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
const TOKEN_OVER = errorFrame(failureMessage(TOKEN_ENDED), failureCode(TOKEN_ENDED))
/** Of its sockets, so many may be without a key. */
const GUESTS_PART = 1 / 4

export interface ClientSocketsPorts {
  readonly clock: Clock
  readonly accounts: Accounts
  readonly maxSockets: number
  readonly unread: RelayUnread
  readonly subscriptions: Pick<Subscriptions, 'isCrowded' | 'ended'>
  /** Hears of refusals. */
  readonly refused?: Connection['refused']
}

export class ClientSockets {
  readonly #ports: ClientSocketsPorts
  readonly #bySocket = new Map<WebSocket, Connection>()
  readonly #gate = new Gate()
  readonly #stall = new StallDetector()
  /** Upgrades that wait for their meter. */
  readonly #entering = new Set<Identity>()
  /** What had been sent at the last look, and how much a second before it. */
  #looked: { readonly atMs: number; readonly sent: number }
  #bytesPerSecond = 0

  constructor(ports: ClientSocketsPorts) {
    this.#ports = ports
    this.#looked = { atMs: ports.clock.nowMs, sent: 0 }
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
    if (guests > maxSockets * GUESTS_PART || this.#bytesPerSecond > MAX_BYTES_PER_SECOND) return false
    return !subscriptions.isCrowded && this.size + this.#entering.size + guests < maxSockets
  }

  /** Null where a socket may come in: `enter` follows at once, or its place is lost. Guests choose no relay. */
  async admit(identity: Identity, isGuest = false): Promise<Refusal | null> {
    const { accounts, clock, unread } = this.#ports
    const isHeavy = isGuest ? unread.isLeft(identity.account) : unread.refuses(identity.account, clock.nowMs)
    if (isHeavy) return { why: 'heavy', left: 0 }
    if (!this.hasRoom()) return { why: 'full', left: 0 }
    // Again: the gateway counts in each of its isolates alone.
    const { waitMs } = this.#gate.take(counted(identity), connectLimit(identity), clock.nowMs)
    if (waitMs > 0) return { why: 'limit', left: 0, retryAfterMs: waitMs }
    if (identity.token && this.#socketsOf(identity.token) >= TOKEN_SOCKETS) return { why: 'token', left: 0 }
    if (!this.#hasRoomForVisitor(identity)) return { why: 'busy', left: 0 }
    this.#entering.add(identity)
    const refused = await accounts.of(identity.account).admit(identity)
    this.#entering.delete(identity)
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
    return [...here, ...this.#entering].filter(is).length
  }

  /** A socket that was just let in. */
  enter(
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
    const ended = (one: Connection) => subscriptions.ended(one)
    const connection = new Connection(id, { identity, terms }, sink, clock, ended, unread)
    connection.product = product
    connection.refused = this.#ports.refused ?? null
    connection.remember = () => socket.serializeAttachment(clientAttachment(connection))
    this.#bySocket.set(socket, connection)
    accounts.of(identity.account).enter(connection)
    if (isPlaying) connection.end(1012, 'a replay was cut off: reconnect')
    return connection
  }

  /** A block that is newer than any before on its link. */
  blockCame(): void {
    if (this.#stall.came(this.#ports.clock.nowMs)) this.#tellAll(FRESH_FRAME)
  }

  /** The platform says that a socket is no more; false where it is none of these. */
  gone(socket: WebSocket): boolean {
    const connection = this.#bySocket.get(socket)
    if (!connection) return false
    this.#bySocket.delete(socket)
    // Nothing is sent any more, and nobody looks until one comes.
    if (this.size === 0) this.#bytesPerSecond = 0
    connection.gone()
    this.#ports.accounts.of(connection.identity.account).leave(connection)
    return true
  }

  /** Ends who has gone quiet; to be called every few seconds. `isFollowed`: somebody waits for blocks. */
  look(isFollowed: boolean): void {
    const { clock, unread } = this.#ports
    const { nowMs } = clock
    const stillMs = this.#stall.look(nowMs, isFollowed)
    if (stillMs !== null) this.#tellAll(staleFrame(stillMs))
    for (const connection of this.#bySocket.values()) {
      if (connection.idleMs(nowMs) >= IDLE_MS) connection.end(4408, 'idle: send pings')
      if ((connection.identity.token?.expires ?? nowMs) < nowMs) connection.end(4410, 'token expired', TOKEN_OVER)
    }
    const seconds = (nowMs - this.#looked.atMs) / 1000
    if (seconds > 1) {
      this.#bytesPerSecond = (unread.sent - this.#looked.sent) / seconds
      this.#looked = { atMs: nowMs, sent: unread.sent }
    }
    unread.forgive(nowMs)
    unread.relieve()
  }

  #tellAll(frame: string): void {
    for (const connection of this.#bySocket.values()) connection.send(frame)
  }
}

/** The exchange writes fourteen blocks a second; a feeder that begins anew is back within this. */
export const STILL_MS = 15_000

/**
 * Whether blocks come, for those who wait for them: each is told once where none has come for long, and once when they go on.
 */
export class StallDetector {
  /** When the last block came, or the first was begun to be waited for; null while nobody waits. */
  #cameMs: number | null = null
  #isStill = false

  /** A block came. True where those who wait had been told that none does. */
  came(nowMs: number): boolean {
    const wasStill = this.#isStill
    this.#cameMs = nowMs
    this.#isStill = false
    return wasStill
  }

  /** To be called every few seconds. For how long none has come, once where that is too long; else null. */
  look(nowMs: number, isAwaited: boolean): number | null {
    if (!isAwaited) this.#cameMs = null
    else this.#cameMs ??= nowMs
    if (this.#cameMs === null) this.#isStill = false
    if (this.#cameMs === null || this.#isStill || nowMs - this.#cameMs < STILL_MS) return null
    this.#isStill = true
    return nowMs - this.#cameMs
  }
}
