// The sockets of /graphql of one relay: their messages, their keys, and what of them outlives the relay's memory, which is
// in their attachments and beside their subscriptions. Invariant: what is wrong with a key is told when an operation
// begins, never before.

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

/** The gateway, which alone knows keys. */
export interface KeyService {
  /** Who a key for GraphQL belongs to. */
  enter(key: string, address: string | null): Promise<Result<Identity, Failure>>
}

/** A socket as the platform has it. */
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
  /** Height of the last block whose events a client was sent; -1 where some of them wait. */
  readonly sentHeight: (client: Connection) => number
}

const INIT_TIMEOUT_MS = 3_000
/** So long one may stay whose key was refused. */
const GUEST_TIMEOUT_MS = 30_000
/** Of one network: what one who brings no key may take of the guests' part of a relay. */
const MAX_GUESTS_PER_NETWORK = 40
const MAX_NONCE_CHARS = 64

const RECONNECT: Close = [1013, 'connect again']
const TOO_LARGE: Close = [1009, 'message too large: at most 65536 bytes']

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

  /** Sockets whose key is not known. */
  get guests(): number {
    return this.#guests.size
  }

  /** Why one more of this address finds no room: nobody would, or it alone. */
  noRoomReason(address: string | null): 'full' | 'limit' | null {
    if (this.#operations.isFull || !this.#ports.clients.hasRoom(this.guests + 1)) return 'full'
    if (address === null) return null
    const network = networkOf(address)
    const alike = [...this.#guests].filter((guest) => guest.address !== null && networkOf(guest.address) === network)
    return alike.length < MAX_GUESTS_PER_NETWORK ? null : 'limit'
  }

  addGuest(socket: RawSocket, address: string | null): void {
    const openedMs = this.#ports.clock.nowMs
    const one = this.#add(socket, { id: crypto.randomUUID(), address, openedMs })
    persistGuest(socket, one)
    after(INIT_TIMEOUT_MS, () => {
      if (one.session.is === 'waiting') one.end(INIT_TIMEOUT)
    })
    this.#ports.onChange()
  }

  /** One that outlived the relay's memory. */
  restoreGuest(socket: RawSocket, guest: GuestAttachment): void {
    const one = this.#add(socket, guest)
    if (guest.wrong) one.session = { is: 'refused', wrong: guest.wrong }
    // Its key is gone, and what it has asked for since.
    else if (guest.isInit) one.end(RECONNECT)
  }

  restore(socket: RawSocket, attachment: ClientAttachment): Connection {
    const one = this.#add(socket, { id: attachment.id, address: null, openedMs: this.#ports.clock.nowMs })
    const connection = this.#ports.clients.restore(socket, attachment, one)
    one.session = { is: 'client', connection }
    this.#restored.set(connection, one)
    this.#guests.delete(one)
    return connection
  }

  /** The operation of a subscription that slept with the relay, as a client of it; null where it can be no more. */
  restoreOperation(connection: Connection, saved: { operation: string; echo: string }): Connection | null {
    const one = this.#restored.get(connection)
    return one ? this.#operations.restore(one, connection, saved) : null
  }

  /** False where it is no socket of these. */
  onMessage(socket: RawSocket, message: string | ArrayBuffer): boolean {
    const one = this.#bySocket.get(socket)
    if (one && !one.isEnded) this.#handle(socket, one, message)
    return one !== undefined
  }

  onClosed(socket: RawSocket): void {
    const one = this.#bySocket.get(socket)
    if (!one) return
    one.onClosed()
    this.#bySocket.delete(socket)
    this.#guests.delete(one)
  }

  /** To be called every few seconds. */
  check(): void {
    const { nowMs } = this.#ports.clock
    this.#operations.check()
    for (const one of this.#bySocket.values()) {
      one.check(nowMs)
      const { session } = one
      if (session.is === 'client' || nowMs - one.openedMs < GUEST_TIMEOUT_MS) continue
      one.end(
        session.is === 'waiting' ? INIT_TIMEOUT : guestClose(session.is === 'refused' ? session.wrong : KEY_UNCHECKED),
      )
    }
  }

  #add(socket: RawSocket, place: Omit<GuestAttachment, 'of' | 'isInit'>): GraphqlSocket {
    const ports = { clock: this.#ports.clock, newNonce: () => crypto.randomUUID() }
    const one = new GraphqlSocket(place, socket, ports)
    this.#bySocket.set(socket, one)
    this.#guests.add(one)
    return one
  }

  #handle(socket: RawSocket, one: GraphqlSocket, text: string | ArrayBuffer): void {
    if (isTooLarge(text)) return one.end(TOO_LARGE)
    const read = readMessage(typeof text === 'string' ? text : '')
    if (!read.ok) return one.end(read.error)
    const isAdmitted = one.admit() === 'yes'
    if (one.isEnded) return
    const { value } = read
    if (value.type === 'complete') return one.complete(value.id)
    if (value.type === 'ping') return isAdmitted ? this.#replyToPing(one, value.payload?.nonce) : undefined
    if (value.type === 'pong') return void acceptProof(one, value.payload?.nonce)
    if (value.type === 'connection_init') {
      if (one.session.is !== 'waiting') return one.end(TOO_MANY_INITS)
      const entered = this.#admit(socket, one, value.payload)
      one.session = { is: 'entering', entered }
      this.#ports.waitUntil(entered)
      persistGuest(socket, one)
      return one.sendMessage(ACK)
    }
    const { id } = value
    if (one.session.is === 'waiting') return one.end(UNAUTHORIZED)
    if (one.operations.has(id)) return one.end(subscriberExists(id))
    this.#operations.start(one, id, value.payload, isAdmitted, (text as string).length)
  }

  #replyToPing(one: GraphqlSocket, nonce: unknown): void {
    const ours = acceptProof(one, nonce)
    const clients = [...one.operations.values()].flatMap(({ started }) => started?.client ?? [])
    const told = clients.map((client) => this.#ports.sentHeight(client))
    one.sendMessage(pongText(ours, told.length > 0 ? Math.min(...told) : -1))
  }

  /** Lets the socket in, where its key may enter. Never rejects. */
  async #admit(socket: RawSocket, one: GraphqlSocket, payload: InitPayload): Promise<AuthResult> {
    const { gateway, clients } = this.#ports
    const found = await authenticate(payload, one.address, gateway, clients)
    if (!found.ok) {
      if (one.isEnded) return found
      one.session = { is: 'refused', wrong: found.error }
      persistGuest(socket, one)
      return found
    }
    const connection = clients.add(socket, one.id, found.value, 'graphql', one)
    this.#guests.delete(one)
    this.#ports.onChange()
    // The place that it was given is free again.
    if (one.isEnded) clients.onClosed(socket)
    else one.session = { is: 'client', connection }
    return ok(connection)
  }
}

/** Takes what may be the nonce of a ping or pong of ours; the answer is another one. */
function acceptProof({ connection }: GraphqlSocket, nonce: unknown): string | undefined {
  if (!connection || typeof nonce !== 'string' || nonce.length > MAX_NONCE_CHARS) return undefined
  return connection.onPing(nonce, crypto.randomUUID())
}

/** What of a guest outlives the relay's memory: never the key. */
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
  message: 'The API key was not checked: connect again.',
  code: 'AUTH_SYSTEM_ERROR',
}
const KEYS_UNAVAILABLE: Failure = { kind: 'unavailable', what: 'API keys cannot be looked up now' }

/** The names under which a key may come, the first that is there counts. */
const KEY_FIELDS = ['SERVICE_API_KEY', 'Authorization'] as const

const MISSING_KEY: GraphqlFailure = {
  message: `No API key: send it in the payload of connection_init as ${KEY_FIELDS.join(' or ')}.`,
  code: 'MISSING_TOKEN',
}

/** The key as it was sent, with or without "Bearer". */
function presentedKey(payload: InitPayload): Result<string, GraphqlFailure> {
  const name = KEY_FIELDS.find((one) => payload?.[one] !== undefined && payload[one] !== null && payload[one] !== '')
  if (name === undefined) return err(MISSING_KEY)
  const value = payload?.[name]
  if (typeof value !== 'string') return err({ message: `${name} must be a string.`, code: 'INVALID_TOKEN' })
  return ok(bearerToken(value) ?? value)
}

/** What a client is told of a key that does not enter. */
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
      return { message: `The API key cannot be checked now: ${message}`, code: 'AUTH_SYSTEM_ERROR' }
  }
}

/** Of a guest that stays too long: who has no key need not come again. */
function guestClose(wrong: GraphqlFailure): Close {
  if (wrong.code === 'MISSING_TOKEN' || wrong.code === 'INVALID_TOKEN') return UNAUTHORIZED
  return wrong.code === 'CREDITS_EXHAUSTED' ? [4402, 'credits exhausted'] : [1013, 'connect again']
}

/** Who brings the key, once the socket has a place; or what is told of it. Never rejects. */
async function authenticate(
  payload: InitPayload,
  address: string | null,
  keys: KeyService,
  clients: Pick<Clients, 'admit'>,
): Promise<Result<Identity, GraphqlFailure>> {
  const key = presentedKey(payload)
  if (!key.ok) return key
  const found = await keys.enter(key.value, address).catch((): Result<Identity, Failure> => err(KEYS_UNAVAILABLE))
  if (!found.ok) return err(keyFailure(found.error))
  const refusal = await clients.admit(found.value, true)
  if (!refusal) return found
  const failure = admissionFailure(refusal, found.value)
  return err({ message: failureMessage(failure), code: graphqlCode(failureCode(failure)) })
}
