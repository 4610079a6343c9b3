// One socket of /graphql: first a guest, whose key is looked up when it introduces itself, and then a client as others
// are, with operations. Laws: nothing of an operation goes out after its end, and all of them end with the socket; who
// answers pings is taken for one who reads; who is silent for a minute is gone.

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

/** An operation; null while it has not begun. */
export interface OperationSlot {
  started: { readonly operation: { onClosed(): void }; readonly client: Connection } | null
}

export type AuthResult = Result<Connection, GraphqlFailure>

/** Where a socket stands with its key. */
export type Session =
  | { readonly is: 'waiting' | 'ended' }
  /** The key is being looked up. */
  | { readonly is: 'entering'; readonly entered: Promise<AuthResult> }
  /** It may begin nothing. */
  | { readonly is: 'refused'; readonly wrong: GraphqlFailure }
  | { readonly is: 'client'; readonly connection: Connection }

/** A proof is asked for after so much, and after so long. */
const PING_BYTES = 32 * 1024
const PING_MS = 20_000
const SILENT_MS = 60_000
/** Without a key, and while it is looked up: who connects again asks at once for all that it had. */
const MAX_GUEST_MESSAGES = 100
const MAX_EARLY_MESSAGES = 2_000

const SILENT_CLOSE: Close = [4408, 'no message and no pong for 60 s']
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
  /** So that one which slept with its relay is pinged at the first look. */
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

  /** What becomes, or became, of its key; null where none was sent. */
  get authResult(): Promise<AuthResult> | null {
    const { session } = this
    if (session.is === 'entering') return session.entered
    if (session.is === 'refused') return Promise.resolve(err(session.wrong))
    return session.is === 'client' ? Promise.resolve(ok(session.connection)) : null
  }

  /** A message came; `no`: it is over the rate. */
  admit(): 'yes' | 'no' {
    this.#lastMessageMs = this.#ports.clock.nowMs
    if (this.connection) return this.connection.admit()
    const most = this.session.is === 'entering' ? MAX_EARLY_MESSAGES : MAX_GUEST_MESSAGES
    if (++this.#guestMessages > most) this.end(FLOOD_CLOSE)
    return 'yes'
  }

  /** Sends a message of the protocol. */
  sendMessage(text: string): void {
    if (this.isEnded) return
    if (!this.connection) return this.#try(() => this.#socket.send(text))
    this.connection.send(text)
    this.#unpinged += text.length
    if (this.#unpinged >= PING_BYTES) this.#ping(this.connection)
  }

  /** Answers an operation that does not begin, or ends. */
  reject(id: string, wrong: GraphqlFailure): void {
    this.operations.delete(id)
    this.sendMessage(`${nextHead(id)}${failurePayload(wrong)}}`)
    this.sendMessage(completeText(id))
  }

  end([code, reason]: Close): void {
    if (this.connection) this.connection.end(code, reason)
    else this.close(code, reason)
  }

  /** To be called every few seconds. */
  check(nowMs: number): void {
    if (!this.connection || this.isEnded) return
    if (nowMs - this.#lastMessageMs >= SILENT_MS) this.end(SILENT_CLOSE)
    else if (nowMs - this.#pingedMs >= PING_MS) this.#ping(this.connection)
  }

  /** What the relay sends to a client, whatever its protocol: its last error is that of every operation. */
  send(text: string): void {
    if (!text.startsWith('{"channel":')) return this.#socket.send(text)
    const { channel, data, code } = JSON.parse(text) as { channel: string; data: string; code: string }
    if (channel !== 'error') return
    const wrong = { message: data, code: graphqlCode(code) }
    for (const id of this.operations.keys()) {
      this.#socket.send(`${nextHead(id)}${failurePayload(wrong)}}`)
      this.#socket.send(completeText(id))
    }
  }

  /** The relay ends the socket. */
  close(code: number, reason: string): void {
    if (this.session.is === 'ended') return
    this.onClosed()
    this.#try(() => this.#socket.close(code, reason))
  }

  /** The socket is no more: so are its operations. */
  onClosed(): void {
    this.session = { is: 'ended' }
    const running = [...this.operations.keys()]
    for (const id of running) this.complete(id)
  }

  /** The client wants no more of an operation. */
  complete(id: string): void {
    const running = this.operations.get(id)
    this.operations.delete(id)
    running?.started?.operation.onClosed()
    running?.started?.client.onClosed()
  }

  /** The other side may have closed: the platform says so by itself. */
  #try(act: () => void): void {
    try {
      act()
    } catch {
      this.onClosed()
    }
  }

  #ping(connection: Connection): void {
    this.#unpinged = 0
    this.#pingedMs = this.#ports.clock.nowMs
    connection.send(pingText(connection.onPing('', this.#ports.newNonce())))
  }
}

/** What an operation is sent its socket counts. */
export function delegatedUnread(connection: Connection): UnreadTracker {
  const nothing = () => undefined
  return {
    markMoved: nothing,
    add: () => ({
      bytes: 0,
      countSend: () => true,
      snapshotWaitMs: (bytes) => connection.snapshotWaitMs(bytes),
      onPing: (_, fresh) => fresh,
      onEnded: nothing,
      onClosed: nothing,
    }),
  }
}
