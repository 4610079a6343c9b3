// Operations of the sockets of one relay, from subscribe to what they are: subscriptions, or queries. Laws: nothing of one
// that was refused stays behind; work that nobody pays for is bounded by key, and what waits by its text.

import { failureMessage } from '../../core/failure.ts'
import { UnbilledLimiter, unbilledLimitFailure } from '../../core/unbilled-limiter.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import type { AnyStateChannel } from '../channel.ts'
import { Backlog } from '../sockets/backlog.ts'
import { type Clock, Connection } from '../sockets/connection.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import {
  type Payload,
  readDocument,
  restoreRequest,
  type SavedOperation,
  type SubscriptionRequest,
} from './document.ts'
import { delegatedUnread, type GraphqlSocket, type OperationSlot } from './graphql-socket.ts'
import {
  completeText,
  errorText,
  failureEvent,
  failurePayload,
  type GraphqlFailure,
  graphqlCode,
  nextHead,
} from './messages.ts'
import { type SharedPlan, SharedPlans } from './shared-plans.ts'

export interface OperationsPorts {
  readonly clock: Clock
  readonly subscriptions: Pick<Subscriptions, 'subscribe' | 'onConnectionEnd' | 'backlog'>
  readonly waitUntil: WaitUntil
  /** A subscription or a socket may have begun. */
  readonly onChange: () => void
}

/** Of one socket. */
const MAX_OPERATIONS = 1_000
/** An answer of so many characters counts as one that costs nothing, a longer one as several. */
const UNBILLED_UNIT_CHARS = 16 * 1024

const rateLimited = (message: string): GraphqlFailure => ({ message, code: 'RATE_LIMITED' })
const tooManyUnbilled = (waitMs: number) => rateLimited(failureMessage(unbilledLimitFailure(waitMs)))
const unavailable = (message: string): GraphqlFailure => ({ message, code: 'UNAVAILABLE' })
const TOO_FAST = rateLimited('Too many messages: slow down.')
const TOO_MANY = rateLimited(`At most ${MAX_OPERATIONS} subscriptions per connection: open another one.`)
const TOO_MANY_PENDING = rateLimited('Too many requests of this account wait: send more as answers come.')
const RELAY_FULL = unavailable('As many selections are served here as can be: open another connection.')
const NOT_RESTORED = unavailable('This subscription did not outlive a restart: subscribe again.')
const FAILED: GraphqlFailure = { message: 'Something went wrong here: subscribe again.', code: 'INTERNAL' }

/** A subscribe that is served. */
interface OperationRequest {
  readonly socket: GraphqlSocket
  readonly slot: OperationSlot
  readonly id: string
  readonly payload: Payload
}

export class Operations {
  readonly #ports: OperationsPorts
  readonly #plans: SharedPlans
  readonly #unbilled = new UnbilledLimiter()
  /** Of sockets whose key is being looked up. */
  readonly #early = new Backlog()

  constructor(ports: OperationsPorts) {
    this.#ports = ports
    this.#plans = new SharedPlans(ports.clock)
  }

  /** Sockets are better off elsewhere. */
  get isFull(): boolean {
    return this.#plans.isFull
  }

  /** To be called every few seconds. */
  check(): void {
    this.#plans.sample()
  }

  /** Of a socket that has introduced itself, with an id that is free. `isAdmitted`: false where it is to be refused. */
  start(one: GraphqlSocket, id: string, payload: Payload, isAdmitted: boolean, length: number): void {
    const running: OperationSlot = { started: null }
    one.operations.set(id, running)
    if (!isAdmitted) return one.reject(id, TOO_FAST)
    if (one.operations.size > MAX_OPERATIONS) return one.reject(id, TOO_MANY)
    const leave = this.#early.reserve(one.address ?? one.id, length)
    if (!leave) return one.reject(id, TOO_MANY_PENDING)
    this.#ports.waitUntil(this.#enqueue({ socket: one, slot: running, id, payload }, length, leave))
  }

  /** One that slept with the relay, as a client of it; null where it can be no more, and its client was told. */
  restore(
    one: GraphqlSocket,
    connection: Connection,
    { operation, echo }: { readonly operation: string; readonly echo: string },
  ): Connection | null {
    const { id, ...kept } = JSON.parse(operation) as SavedOperation & { id: string }
    const asked = restoreRequest(kept, echo)
    const running: OperationSlot = { started: null }
    one.operations.set(id, running)
    if (asked) return this.#startOperation(one, connection, running, id, asked)
    one.reject(id, NOT_RESTORED)
    return null
  }

  /** Behind those of its socket that came before. Never rejects. */
  async #enqueue(request: OperationRequest, length: number, entered: () => void): Promise<void> {
    const { socket, slot, id } = request
    const found = await socket.authResult
    entered()
    if (!found || socket.operations.get(id) !== slot) return
    if (!found.ok) return socket.reject(id, found.error)
    const connection = found.value
    const leave = this.#ports.subscriptions.backlog.reserve(connection.identity.account, length)
    if (!leave) return socket.reject(id, TOO_MANY_PENDING)
    const failed = (error: unknown) => {
      console.error('an operation of GraphQL failed', error)
      socket.complete(id)
      socket.reject(id, FAILED)
    }
    connection.enqueue(() => this.#serve(connection, request).catch(failed).finally(leave))
    await connection.drained()
  }

  async #serve(connection: Connection, { socket, slot, id, payload }: OperationRequest): Promise<void> {
    if (socket.operations.get(id) !== slot || connection.isEnded) return
    const { keyHash } = connection.identity
    // To tell a document that is charged from one that is free takes reading it, which is work.
    const untilTryMs = this.#unbilled.tryUpstream(keyHash, this.#ports.clock.nowMs)
    if (untilTryMs > 0) return socket.reject(id, tooManyUnbilled(untilTryMs))
    const asked = readDocument(payload)
    if (asked.ok && asked.value.kind === 'subscription') {
      this.#unbilled.refundTry(keyHash, this.#ports.clock.nowMs)
      const { alias, plan, echo, body, meta, fromBlock } = asked.value
      if (!this.#plans.hasRoom(alias, plan, echo)) return socket.reject(id, RELAY_FULL)
      const client = this.#startOperation(socket, connection, slot, id, asked.value)
      await this.#ports.subscriptions.subscribe(client, { method: 'subscribe', subscription: body, meta, fromBlock })
      return this.#ports.onChange()
    }
    const answer = asked.ok && asked.value.kind === 'query' ? asked.value.text : ''
    const waitMs = this.#unbilled.takeOrOwe(keyHash, this.#ports.clock.nowMs)
    for (let at = UNBILLED_UNIT_CHARS; at <= answer.length; at += UNBILLED_UNIT_CHARS)
      this.#unbilled.takeOrOwe(keyHash, this.#ports.clock.nowMs)
    socket.operations.delete(id)
    if (waitMs > 0) return socket.reject(id, tooManyUnbilled(waitMs))
    if (!asked.ok) return socket.sendMessage(errorText(id, asked.error))
    socket.sendMessage(`${nextHead(id)}${answer}}`)
    socket.sendMessage(completeText(id))
  }

  /** The client that stands for an operation. */
  #startOperation(
    one: GraphqlSocket,
    connection: Connection,
    running: OperationSlot,
    id: string,
    asked: Pick<SubscriptionRequest, 'alias' | 'plan' | 'echo' | 'target'>,
  ): Connection {
    const { alias, plan, echo } = asked
    const { identity, terms } = connection
    const shared = this.#plans.acquire(alias, plan, echo)
    const ports = { send: (text: string) => one.sendMessage(text), onEnd: () => client.onClosed() }
    const operation = new Operation(id, asked, shared, ports)
    const ended = () => {
      if (one.operations.get(id) === running) one.operations.delete(id)
      this.#plans.release(alias, plan, echo)
      this.#ports.subscriptions.onConnectionEnd(client)
    }
    const { clock } = this.#ports
    const client: Connection = new Connection(
      one.id,
      { identity, terms },
      operation,
      clock,
      ended,
      delegatedUnread(connection),
    )
    client.product = 'graphql'
    client.operation = { id, alias, key: plan.key }
    running.started = { operation, client }
    return client
  }
}

/** Of the socket. */
interface OperationPorts {
  send(text: string): void
  /** It is over by the relay's doing. */
  onEnd(): void
}

/** Errors of /ws after which a subscription goes on. */
const NON_FATAL_CODES: ReadonlySet<string> = new Set(['gap', 'replay_unavailable'])
/** How /ws says that a body is no subscription, or is none any more. */
const REJECTED_PREFIX = 'Invalid subscription'

/**
 * One subscription of a GraphQL socket. To the relay's engines it is a client of its own, with a body and frames as on /ws;
 * this is the sink at its end, which turns frames into results. Invariants: a frame of its channel is one `next`; after
 * `complete` from either side nothing more is sent under its id; what is refused or ends is told why.
 */
export class Operation {
  readonly #id: string
  readonly #head: string
  readonly #alias: string
  readonly #echo: string
  readonly #plan: SharedPlan
  readonly #ports: OperationPorts
  /** How frames of its channel begin. */
  readonly #prefix: string
  #isEnded = false
  #hasFailed = false

  constructor(
    id: string,
    { alias, echo, target }: Pick<SubscriptionRequest, 'alias' | 'echo' | 'target'>,
    plan: SharedPlan,
    ports: OperationPorts,
  ) {
    this.#id = id
    this.#head = nextHead(id)
    this.#alias = alias
    this.#echo = echo
    this.#plan = plan
    this.#ports = ports
    const { channel, body } = target
    const { type, frameName = type, frameNameOf } = channel as AnyStateChannel
    this.#prefix = `{"channel":"${frameNameOf?.(body) ?? frameName}",`
  }

  /** A frame of /ws for this body. */
  send(frame: string): void {
    if (this.#isEnded) return
    if (frame.startsWith(this.#prefix)) return this.#ports.send(`${this.#head}${this.#plan.payload(frame)}}`)
    const { channel, data, code } = JSON.parse(frame) as { channel: string; data: string; code: string }
    // An acknowledgement, or a remark.
    if (channel !== 'error') return
    const wrong = { message: data, code: graphqlCode(code) }
    if (NON_FATAL_CODES.has(code)) this.#ports.send(`${this.#head}${failureEvent(this.#alias, wrong)}}`)
    else if (!data.startsWith(REJECTED_PREFIX)) this.#sendFailure(wrong)
    else {
      this.#sendFailure({ ...wrong, message: this.#reasonOf(data) })
      this.#end()
    }
  }

  /** The relay ends what it is a client of. */
  close(_: number, reason: string): void {
    if (this.#isEnded) return
    if (!this.#hasFailed) this.#sendFailure({ message: `${reason}.`, code: 'UNAVAILABLE' })
    this.#end()
  }

  /** The client has ended it: nothing more is said of it. */
  onClosed(): void {
    this.#isEnded = true
  }

  #sendFailure(wrong: GraphqlFailure): void {
    this.#hasFailed = true
    this.#ports.send(`${this.#head}${failurePayload(wrong)}}`)
  }

  #end(): void {
    this.#isEnded = true
    this.#ports.send(completeText(this.#id))
    this.#ports.onEnd()
  }

  /** Without what /ws says of the body, which the client did not send. */
  #reasonOf(text: string): string {
    const rest = text.slice(REJECTED_PREFIX.length)
    const echo = ` ${this.#echo}`
    return (rest.startsWith(echo) ? rest.slice(echo.length) : rest).replace(/^: /, '')
  }
}
