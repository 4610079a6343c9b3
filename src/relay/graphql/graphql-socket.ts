// One socket of /graphql: a guest until its key is checked, then a client with operations. Invariants: nothing of an
// operation is sent after its end, and all operations end with the socket. A client that answers pings counts as
// reading; one that is silent for a minute is closed.

import { err, ok, type Result } from '../../core/result.ts'
import type { GuestAttachment } from '../sockets/attachment.ts'
import type { Clock, Connection, Sink, UnreadTracker } from '../sockets/connection.ts'
import {
  type Close,
  completeText,
  failurePayload,
  type GraphqlFailure,
  graphqlCode,
  nextHead,
  pingText,
} from './messages.ts'

/** An operation id in use. `started` is null until the operation starts. */
export interface OperationSlot {
  started: { readonly operation: { onClosed(): void }; readonly client: Connection } | null
}

export type AuthResult = Result<Connection, GraphqlFailure>

/** Authentication state of a socket. */
export type Session =
  | { readonly is: 'waiting' | 'ended' }
  /** The key is being checked. */
  | { readonly is: 'entering'; readonly entered: Promise<AuthResult> }
  /** The key was rejected, so the socket may not start operations. */
  | { readonly is: 'refused'; readonly wrong: GraphqlFailure }
  | { readonly is: 'client'; readonly connection: Connection }

/** The socket pings its client after this many bytes or this much time. The pong proves that the client reads. */
const PING_BYTES = 32 * 1024
const PING_MS = 20_000
const SILENT_MS = 60_000
/**
 * Message limits before a key is accepted. The second applies while the key is being checked, because a reconnecting
 * client restarts all its operations at once.
 */
const MAX_GUEST_MESSAGES = 100
const MAX_EARLY_MESSAGES = 2_000

const SILENT_CLOSE: Close = [4408, 'no message or pong for 60 s']
const FLOOD_CLOSE: Close = [1008, 'too many messages']

export interface SocketPorts {
  readonly clock: Clock
  newNonce(): string
}

export class GraphqlSocket implements Sink {
  readonly id: string
  readonly address: string | null
  readonly openedMs: number
  readonly operations = new Map<string, OperationSlot>()
  readonly #socket: Sink
  readonly #ports: SocketPorts
  session: Session = { is: 'waiting' }
  #guestMessages = 0
  #unpinged = 0
  /** Time of the last ping. It starts at 0, so that a restored socket is pinged at the first check. */
  #pingedMs = 0
  #lastMessageMs: number

  constructor({ id, address, openedMs }: Omit<GuestAttachment, 'of' | 'isInit'>, socket: Sink, ports: SocketPorts) {
    this.id = id
    this.address = address
    this.openedMs = openedMs
    this.#socket = socket
    this.#ports = ports
    this.#lastMessageMs = ports.clock.nowMs
  }

  get connection(): Connection | null {
    return this.session.is === 'client' ? this.session.connection : null
  }

  get isEnded(): boolean {
    return this.session.is === 'ended' || this.connection?.isEnded === true
  }

  /** Result of the key check; null if no key was sent. */
  get authResult(): Promise<AuthResult> | null {
    const { session } = this
    if (session.is === 'entering') return session.entered
    if (session.is === 'refused') return Promise.resolve(err(session.wrong))
    return session.is === 'client' ? Promise.resolve(ok(session.connection)) : null
  }

  /** Counts a message; `no` if it is over the rate limit. */
  admit(): 'yes' | 'no' {
    this.#lastMessageMs = this.#ports.clock.nowMs
    if (this.connection) return this.connection.admit()
    const limit = this.session.is === 'entering' ? MAX_EARLY_MESSAGES : MAX_GUEST_MESSAGES
    if (++this.#guestMessages > limit) this.end(FLOOD_CLOSE)
    return 'yes'
  }

  /** Sends a protocol message. */
  sendMessage(text: string): void {
    if (this.isEnded) return
    if (!this.connection) return this.#try(() => this.#socket.send(text))
    this.connection.send(text)
    this.#unpinged += text.length
    if (this.#unpinged >= PING_BYTES) this.#ping(this.connection)
  }

  /** Rejects or ends an operation with a failure. */
  reject(id: string, failure: GraphqlFailure): void {
    this.operations.delete(id)
    this.sendMessage(`${nextHead(id)}${failurePayload(failure)}}`)
    this.sendMessage(completeText(id))
  }

  end([code, reason]: Close): void {
    if (this.connection) this.connection.end(code, reason)
    else this.close(code, reason)
  }

  /** Call it every few seconds. */
  check(nowMs: number): void {
    if (!this.connection || this.isEnded) return
    if (nowMs - this.#lastMessageMs >= SILENT_MS) this.end(SILENT_CLOSE)
    else if (nowMs - this.#pingedMs >= PING_MS) this.#ping(this.connection)
  }

  /** Converts the relay's final error frame into a failure of every operation. */
  send(text: string): void {
    if (!text.startsWith('{"channel":')) return this.#socket.send(text)
    const { channel, data, code } = JSON.parse(text) as { channel: string; data: string; code: string }
    if (channel !== 'error') return
    const failure = { message: data, code: graphqlCode(code) }
    for (const id of this.operations.keys()) {
      this.#socket.send(`${nextHead(id)}${failurePayload(failure)}}`)
      this.#socket.send(completeText(id))
    }
  }

  /** Closes the socket for the relay. */
  close(code: number, reason: string): void {
    if (this.session.is === 'ended') return
    this.onClosed()
    this.#try(() => this.#socket.close(code, reason))
  }

  /** Ends the operations, because the socket has closed. */
  onClosed(): void {
    this.session = { is: 'ended' }
    const slots = [...this.operations.keys()]
    for (const id of slots) this.complete(id)
  }

  /** Ends an operation for the client. */
  complete(id: string): void {
    const slots = this.operations.get(id)
    this.operations.delete(id)
    slots?.started?.operation.onClosed()
    slots?.started?.client.onClosed()
  }

  /** Ends the operations if `run` throws, because the other side may have closed the socket. */
  #try(run: () => void): void {
    try {
      run()
    } catch {
      this.onClosed()
    }
  }

  #ping(connection: Connection): void {
    this.#unpinged = 0
    this.#pingedMs = this.#ports.clock.nowMs
    connection.send(pingText(connection.nextNonce(this.#ports.newNonce())))
  }
}

/**
 * Unread tracker of an operation's client. The socket counts the data of all its operations, so this tracker counts
 * nothing itself.
 */
export function delegatedUnread(connection: Connection): UnreadTracker {
  const nothing = () => undefined
  return {
    markMoved: nothing,
    add: () => ({
      bytes: 0,
      lateMs: 0,
      countSend: () => true,
      snapshotWaitMs: (bytes) => connection.snapshotWaitMs(bytes),
      onNonce: nothing,
      nextNonce: (fresh) => fresh,
      onEnded: nothing,
      onClosed: nothing,
    }),
  }
}
