// The /graphql sockets of one relay: messages, keys, and the state that survives hibernation in attachments and saved
// subscriptions. Invariant: a key failure is reported when an operation starts, never before.

import type { Identity } from '../../accounts/identity.ts'
import { type Failure, failureCode, failureMessage } from '../../core/failure.ts'
import { networkOf } from '../../core/network.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { bearerToken } from '../../core/secret.ts'
import { after } from '../../core/timers.client.ts'
import { isTooLarge } from '../../protocol/relay/protocol.ts'
import { admissionFailure, type Refusal } from '../sockets/admission.ts'
import type { ClientAttachment, GuestAttachment } from '../sockets/attachment.ts'
import type { Connection, Sink } from '../sockets/connection.ts'
import { type AuthResult, GraphqlSocket } from './graphql-socket.ts'
import {
  ACK,
  type Close,
  type GraphqlFailure,
  graphqlCode,
  INIT_TIMEOUT,
  pongText,
  readMessage,
  subscriberExists,
  TOO_MANY_INITS,
  UNAUTHORIZED,
} from './messages.ts'
import { Operations, type OperationsPorts } from './operations.client.ts'

/** The gateway, which alone can check keys. */
export interface KeyService {
  /** Returns the identity of a key for GraphQL. */
  enter(key: string, address: string | null): Promise<Result<Identity, Failure>>
}

/** A platform socket. */
type RawSocket = Sink & { serializeAttachment(attachment: GuestAttachment): void }

/** The relay's other clients. */
interface Clients {
  admit(identity: Identity, isGuest: boolean): Promise<Refusal | null>
  hasRoom(guests: number): boolean
  add(socket: RawSocket, id: string, identity: Identity, product: 'graphql', sink: GraphqlSocket): Connection
  restore(socket: RawSocket, attachment: ClientAttachment, sink: GraphqlSocket): Connection
  onClosed(socket: RawSocket): boolean
}

export interface GraphqlPorts extends OperationsPorts {
  readonly gateway: KeyService
  readonly clients: Clients
  /** Height of the last block whose events were sent to the client; -1 while some are pending. */
  readonly sentHeight: (client: Connection) => number
}

const INIT_TIMEOUT_MS = 3_000
/** How long a socket with a rejected key may stay. */
const GUEST_TIMEOUT_MS = 30_000
/** Maximum number of guests per network, so that clients without keys cannot use up the relay's guest share. */
const MAX_GUESTS_PER_NETWORK = 40
const MAX_NONCE_CHARS = 64

const RECONNECT: Close = [1013, 'reconnect']
const TOO_LARGE: Close = [1009, 'message larger than 65,536 bytes']

export class GraphqlSockets {
  readonly #ports: GraphqlPorts
  readonly #bySocket = new Map<RawSocket, GraphqlSocket>()
  readonly #guests = new Set<GraphqlSocket>()
  readonly #operations: Operations
  readonly #restored = new WeakMap<Connection, GraphqlSocket>()

  constructor(ports: GraphqlPorts) {
    this.#ports = ports
    this.#operations = new Operations(ports)
  }

  /** Sockets without an accepted key. */
  get guests(): number {
    return this.#guests.size
  }

  /**
   * Why there is no room for another socket from this address: the relay is full, or the address's network is at its
   * limit.
   */
  noRoomReason(address: string | null): 'full' | 'limit' | null {
    if (this.#operations.isFull || !this.#ports.clients.hasRoom(this.guests + 1)) return 'full'
    if (address === null) return null
    const network = networkOf(address)
    const sameNetwork = [...this.#guests].filter(
      (guest) => guest.address !== null && networkOf(guest.address) === network,
    )
    return sameNetwork.length < MAX_GUESTS_PER_NETWORK ? null : 'limit'
  }

  addGuest(socket: RawSocket, address: string | null): void {
    const openedMs = this.#ports.clock.nowMs
    const graphqlSocket = this.#add(socket, { id: crypto.randomUUID(), address, openedMs })
    persistGuest(socket, graphqlSocket)
    after(INIT_TIMEOUT_MS, () => {
      if (graphqlSocket.session.is === 'waiting') graphqlSocket.end(INIT_TIMEOUT)
    })
    this.#ports.onChange()
  }

  /** Restores a guest after hibernation. */
  restoreGuest(socket: RawSocket, guest: GuestAttachment): void {
    const graphqlSocket = this.#add(socket, guest)
    if (guest.wrong) graphqlSocket.session = { is: 'refused', wrong: guest.wrong }
    // The guest's key and operations did not survive hibernation.
    else if (guest.isInit) graphqlSocket.end(RECONNECT)
  }

  restore(socket: RawSocket, attachment: ClientAttachment): Connection {
    const graphqlSocket = this.#add(socket, { id: attachment.id, address: null, openedMs: this.#ports.clock.nowMs })
    const connection = this.#ports.clients.restore(socket, attachment, graphqlSocket)
    graphqlSocket.session = { is: 'client', connection }
    this.#restored.set(connection, graphqlSocket)
    this.#guests.delete(graphqlSocket)
    return connection
  }

  /** Restores the client of a saved subscription's operation; null if the operation is no longer valid. */
  restoreOperation(connection: Connection, saved: { operation: string; echo: string }): Connection | null {
    const graphqlSocket = this.#restored.get(connection)
    return graphqlSocket ? this.#operations.restore(graphqlSocket, connection, saved) : null
  }

  /** Handles a message. Returns false if the socket is not a GraphQL socket. */
  onMessage(socket: RawSocket, message: string | ArrayBuffer): boolean {
    const graphqlSocket = this.#bySocket.get(socket)
    if (graphqlSocket && !graphqlSocket.isEnded) this.#handle(socket, graphqlSocket, message)
    return graphqlSocket !== undefined
  }

  onClosed(socket: RawSocket): void {
    const graphqlSocket = this.#bySocket.get(socket)
    if (!graphqlSocket) return
    graphqlSocket.onClosed()
    this.#bySocket.delete(socket)
    this.#guests.delete(graphqlSocket)
  }

  /** Call it every few seconds. */
  check(): void {
    const { nowMs } = this.#ports.clock
    this.#operations.check()
    for (const graphqlSocket of this.#bySocket.values()) {
      graphqlSocket.check(nowMs)
      const { session } = graphqlSocket
      if (session.is === 'client' || nowMs - graphqlSocket.openedMs < GUEST_TIMEOUT_MS) continue
      graphqlSocket.end(
        session.is === 'waiting' ? INIT_TIMEOUT : guestClose(session.is === 'refused' ? session.wrong : KEY_UNCHECKED),
      )
    }
  }

  #add(socket: RawSocket, guest: Omit<GuestAttachment, 'of' | 'isInit'>): GraphqlSocket {
    const ports = { clock: this.#ports.clock, newNonce: () => crypto.randomUUID() }
    const graphqlSocket = new GraphqlSocket(guest, socket, ports)
    this.#bySocket.set(socket, graphqlSocket)
    this.#guests.add(graphqlSocket)
    return graphqlSocket
  }

  #handle(socket: RawSocket, graphqlSocket: GraphqlSocket, text: string | ArrayBuffer): void {
    if (isTooLarge(text)) return graphqlSocket.end(TOO_LARGE)
    const read = readMessage(typeof text === 'string' ? text : '')
    if (!read.ok) return graphqlSocket.end(read.error)
    const isAdmitted = graphqlSocket.admit() === 'yes'
    if (graphqlSocket.isEnded) return
    const { value } = read
    if (value.type === 'complete') return graphqlSocket.complete(value.id)
    if (value.type === 'ping') return isAdmitted ? this.#replyToPing(graphqlSocket, value.payload?.nonce) : undefined
    if (value.type === 'pong') return acceptProof(graphqlSocket, value.payload?.nonce)
    if (value.type === 'connection_init') {
      if (graphqlSocket.session.is !== 'waiting') return graphqlSocket.end(TOO_MANY_INITS)
      const entered = this.#admit(socket, graphqlSocket, value.payload)
      graphqlSocket.session = { is: 'entering', entered }
      this.#ports.waitUntil(entered)
      persistGuest(socket, graphqlSocket)
      return graphqlSocket.sendMessage(ACK)
    }
    const { id } = value
    if (graphqlSocket.session.is === 'waiting') return graphqlSocket.end(UNAUTHORIZED)
    if (graphqlSocket.operations.has(id)) return graphqlSocket.end(subscriberExists(id))
    this.#operations.start(graphqlSocket, id, value.payload, isAdmitted, (text as string).length)
  }

  #replyToPing(graphqlSocket: GraphqlSocket, nonce: unknown): void {
    acceptProof(graphqlSocket, nonce)
    const ourNonce = isNonce(nonce) ? graphqlSocket.connection?.nextNonce(crypto.randomUUID()) : undefined
    const clients = [...graphqlSocket.operations.values()].flatMap(({ started }) => started?.client ?? [])
    const heights = clients.map((client) => this.#ports.sentHeight(client))
    graphqlSocket.sendMessage(pongText(ourNonce, heights.length > 0 ? Math.min(...heights) : -1))
  }

  /** Admits the socket if its key is accepted. Never rejects. */
  async #admit(socket: RawSocket, graphqlSocket: GraphqlSocket, payload: InitPayload): Promise<AuthResult> {
    const { gateway, clients } = this.#ports
    const found = await authenticate(payload, graphqlSocket.address, gateway, clients)
    if (!found.ok) {
      if (graphqlSocket.isEnded) return found
      graphqlSocket.session = { is: 'refused', wrong: found.error }
      persistGuest(socket, graphqlSocket)
      return found
    }
    const connection = clients.add(socket, graphqlSocket.id, found.value, 'graphql', graphqlSocket)
    this.#guests.delete(graphqlSocket)
    this.#ports.onChange()
    // If the socket has ended meanwhile, its slot is freed.
    if (graphqlSocket.isEnded) clients.onClosed(socket)
    else graphqlSocket.session = { is: 'client', connection }
    return ok(connection)
  }
}

/** Accepts the nonce from a client's ping, or from its pong to our ping. */
function acceptProof({ connection }: GraphqlSocket, nonce: unknown): void {
  if (isNonce(nonce)) connection?.onNonce(nonce)
}

function isNonce(nonce: unknown): nonce is string {
  return typeof nonce === 'string' && nonce.length <= MAX_NONCE_CHARS
}

/** Saves the guest's state across hibernation, but never its key. */
function persistGuest(socket: RawSocket, { id, address, openedMs, session }: GraphqlSocket): void {
  const guest: GuestAttachment = {
    of: 'guest',
    id,
    address,
    openedMs,
    isInit: session.is !== 'waiting',
    ...(session.is === 'refused' && { wrong: session.wrong }),
  }
  socket.serializeAttachment(guest)
}

type InitPayload = Readonly<Record<string, unknown>> | undefined

const KEY_UNCHECKED: GraphqlFailure = {
  message: 'The API key check was interrupted. Reconnect.',
  code: 'AUTH_SYSTEM_ERROR',
}
const KEYS_UNAVAILABLE: Failure = { kind: 'unavailable', what: 'API keys cannot be checked now' }

/** Payload fields that may contain the key. The first field that is present counts. */
const KEY_FIELDS = ['SERVICE_API_KEY', 'Authorization'] as const

const MISSING_KEY: GraphqlFailure = {
  message: `No API key. Send it in the payload of connection_init as ${KEY_FIELDS.join(' or ')}.`,
  code: 'MISSING_TOKEN',
}

/** The key as sent, with or without "Bearer". */
function presentedKey(payload: InitPayload): Result<string, GraphqlFailure> {
  const name = KEY_FIELDS.find(
    (graphqlSocket) =>
      payload?.[graphqlSocket] !== undefined && payload[graphqlSocket] !== null && payload[graphqlSocket] !== '',
  )
  if (name === undefined) return err(MISSING_KEY)
  const value = payload?.[name]
  if (typeof value !== 'string') return err({ message: `${name} must be a string.`, code: 'INVALID_TOKEN' })
  return ok(bearerToken(value) ?? value)
}

/** The failure that a client gets for a rejected key. */
function keyFailure(failure: Failure): GraphqlFailure {
  const message = failureMessage(failure)
  switch (failure.kind) {
    case 'key_missing':
      return MISSING_KEY
    case 'key_malformed':
    case 'key_unknown':
    case 'key_revoked':
    case 'key_replaced':
    case 'key_expired':
    case 'not_entitled':
      return { message, code: 'INVALID_TOKEN' }
    case 'rate_limited':
      return { message, code: 'RATE_LIMITED' }
    default:
      return { message: `The API key cannot be checked now. ${message}`, code: 'AUTH_SYSTEM_ERROR' }
  }
}

/** Close code for a guest that stays too long. A client that has no valid key should not reconnect. */
function guestClose(wrong: GraphqlFailure): Close {
  if (wrong.code === 'MISSING_TOKEN' || wrong.code === 'INVALID_TOKEN') return UNAUTHORIZED
  return wrong.code === 'CREDITS_EXHAUSTED' ? [4402, 'credits exhausted'] : [1013, 'reconnect']
}

/** Checks the key and reserves room for the socket. Never rejects. */
async function authenticate(
  payload: InitPayload,
  address: string | null,
  keyService: KeyService,
  clients: Pick<Clients, 'admit'>,
): Promise<Result<Identity, GraphqlFailure>> {
  const key = presentedKey(payload)
  if (!key.ok) return key
  const found = await keyService.enter(key.value, address).catch((): Result<Identity, Failure> => err(KEYS_UNAVAILABLE))
  if (!found.ok) return err(keyFailure(found.error))
  const refusal = await clients.admit(found.value, true)
  if (!refusal) return found
  const failure = admissionFailure(refusal, found.value)
  return err({ message: failureMessage(failure), code: graphqlCode(failureCode(failure)) })
}
