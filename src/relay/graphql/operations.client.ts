// Starts GraphQL operations: channel subscriptions, or queries of the schema. Invariants: a rejected operation leaves
// nothing behind; unbilled work is limited per key, and pending work by document size.

import { limiterKey } from '../../accounts/identity.ts'
import { TOKEN_SUBSCRIPTIONS } from '../../accounts/stream-token.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { failureMessage } from '../../core/failure.ts'
import { logEvent } from '../../core/log.client.ts'
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
  /** Called when a subscription or socket may have started. */
  readonly onChange: () => void
}

/** Maximum number of operations per socket. */
const MAX_OPERATIONS = 1_000
/** A response of this length counts as one unbilled response, a longer one as several. */
const UNBILLED_UNIT_CHARS = 16 * 1024

const rateLimited = (message: string): GraphqlFailure => ({ message, code: 'RATE_LIMITED' })
const tooManyUnbilled = (waitMs: number) => rateLimited(failureMessage(unbilledLimitFailure(waitMs)))
const unavailable = (message: string): GraphqlFailure => ({ message, code: 'UNAVAILABLE' })
const TOO_FAST = rateLimited('Too many messages. Send fewer.')
const TOO_MANY = rateLimited(
  `Limit of ${inGroups(MAX_OPERATIONS)} subscriptions per connection reached. Open another connection.`,
)
const TOO_MANY_FOR_TOKEN = rateLimited(
  `Limit of ${TOKEN_SUBSCRIPTIONS} subscriptions per connection with a stream token reached. End one first.`,
)
const TOO_MANY_PENDING = rateLimited(
  'Too many pending requests for this account. Wait for responses before sending more.',
)
const RELAY_FULL = unavailable('This relay is at its selection limit. Reconnect to be placed on another one.')
const NOT_RESTORED = unavailable('This subscription was lost in a restart. Subscribe again.')
const FAILED: GraphqlFailure = { message: 'Internal error. Subscribe again.', code: 'INTERNAL' }

/** A subscribe message. */
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
  /** Requests of sockets whose key is being checked. */
  readonly #early = new Backlog()

  constructor(ports: OperationsPorts) {
    this.#ports = ports
    this.#plans = new SharedPlans(ports.clock)
  }

  /** True if new sockets should go to another relay. */
  get isFull(): boolean {
    return this.#plans.isFull
  }

  /** Call it every few seconds. */
  check(): void {
    this.#plans.sample()
  }

  /** Starts an operation with an unused id. `isAdmitted`: false if the message exceeded the rate limit. */
  start(socket: GraphqlSocket, id: string, payload: Payload, isAdmitted: boolean, length: number): void {
    const slot: OperationSlot = { started: null }
    socket.operations.set(id, slot)
    if (!isAdmitted) return socket.reject(id, TOO_FAST)
    if (socket.operations.size > MAX_OPERATIONS) return socket.reject(id, TOO_MANY)
    const release = this.#early.reserve(socket.address ?? socket.id, length)
    if (!release) return socket.reject(id, TOO_MANY_PENDING)
    this.#ports.waitUntil(this.#enqueue({ socket, slot, id, payload }, length, release))
  }

  /**
   * Restores an operation after hibernation. If the operation is no longer valid, notifies the client and returns null.
   */
  restore(
    socket: GraphqlSocket,
    connection: Connection,
    { operation, echo }: { readonly operation: string; readonly echo: string },
  ): Connection | null {
    const { id, ...stored } = JSON.parse(operation) as SavedOperation & { id: string }
    const parsed = restoreRequest(stored, echo)
    const slot: OperationSlot = { started: null }
    socket.operations.set(id, slot)
    if (parsed) return this.#startOperation(socket, connection, slot, id, parsed)
    socket.reject(id, NOT_RESTORED)
    return null
  }

  /** Queues the request behind earlier requests of its socket. Never rejects. */
  async #enqueue(request: OperationRequest, length: number, releaseEarly: () => void): Promise<void> {
    const { socket, slot, id } = request
    const auth = await socket.authResult
    releaseEarly()
    if (!auth || socket.operations.get(id) !== slot) return
    if (!auth.ok) return socket.reject(id, auth.error)
    const connection = auth.value
    const release = this.#ports.subscriptions.backlog.reserve(connection.identity.account, length)
    if (!release) return socket.reject(id, TOO_MANY_PENDING)
    const failed = (error: unknown) => {
      logEvent('graphql_operation_failed', { error })
      socket.complete(id)
      socket.reject(id, FAILED)
    }
    connection.enqueue(() => this.#serve(connection, request).catch(failed).finally(release))
    await connection.drained()
  }

  async #serve(connection: Connection, { socket, slot, id, payload }: OperationRequest): Promise<void> {
    if (socket.operations.get(id) !== slot || connection.isEnded) return
    const { identity } = connection
    const by = limiterKey(identity)
    if (identity.token && socket.operations.size > TOKEN_SUBSCRIPTIONS) return socket.reject(id, TOO_MANY_FOR_TOKEN)
    // Only parsing shows whether a document is billed, and parsing itself is unbilled work.
    const workWaitMs = this.#unbilled.tryUpstream(by, this.#ports.clock.nowMs)
    if (workWaitMs > 0) return socket.reject(id, tooManyUnbilled(workWaitMs))
    const parsed = readDocument(payload)
    if (parsed.ok && parsed.value.kind === 'subscription') {
      this.#unbilled.refundTry(by, this.#ports.clock.nowMs)
      const { alias, plan, echo, body, meta, fromBlock } = parsed.value
      if (!this.#plans.hasRoom(alias, plan, echo)) return socket.reject(id, RELAY_FULL)
      const client = this.#startOperation(socket, connection, slot, id, parsed.value)
      await this.#ports.subscriptions.subscribe(client, { method: 'subscribe', subscription: body, meta, fromBlock })
      return this.#ports.onChange()
    }
    const result = parsed.ok && parsed.value.kind === 'query' ? parsed.value.text : ''
    const waitMs = this.#unbilled.takeOrOwe(by, this.#ports.clock.nowMs)
    for (let at = UNBILLED_UNIT_CHARS; at <= result.length; at += UNBILLED_UNIT_CHARS)
      this.#unbilled.takeOrOwe(by, this.#ports.clock.nowMs)
    socket.operations.delete(id)
    if (waitMs > 0) return socket.reject(id, tooManyUnbilled(waitMs))
    if (!parsed.ok) return socket.sendMessage(errorText(id, parsed.error))
    socket.sendMessage(`${nextHead(id)}${result}}`)
    socket.sendMessage(completeText(id))
  }

  /** Creates the client that represents an operation. */
  #startOperation(
    socket: GraphqlSocket,
    connection: Connection,
    slot: OperationSlot,
    id: string,
    parsed: Pick<SubscriptionRequest, 'alias' | 'plan' | 'echo' | 'target'>,
  ): Connection {
    const { alias, plan, echo } = parsed
    const { identity, terms } = connection
    const shared = this.#plans.acquire(alias, plan, echo)
    const ports = { send: (text: string) => socket.sendMessage(text), onEnd: () => client.onClosed() }
    const operation = new Operation(id, parsed, shared, ports)
    const onEnd = () => {
      if (socket.operations.get(id) === slot) socket.operations.delete(id)
      this.#plans.release(alias, plan, echo)
      this.#ports.subscriptions.onConnectionEnd(client)
    }
    const { clock } = this.#ports
    const client: Connection = new Connection(
      socket.id,
      { identity, terms },
      operation,
      clock,
      onEnd,
      delegatedUnread(connection),
    )
    client.product = 'graphql'
    client.operation = { id, alias, key: plan.key }
    slot.started = { operation, client }
    return client
  }
}

/** The socket's side of an operation. */
interface OperationPorts {
  send(text: string): void
  /** Called when the relay has ended the operation. */
  onEnd(): void
}

/** Error codes of /ws after which a subscription continues. */
const NON_FATAL_CODES: ReadonlySet<string> = new Set(['gap', 'replay_unavailable'])
/** Prefix of a /ws error that rejects or ends a subscription. */
const REJECTED_PREFIX = 'Invalid subscription'

/**
 * One subscription of a GraphQL socket. To the relay it is a separate client with a body and frames as on /ws. This
 * sink converts the frames to results. Invariants: each frame of its channel becomes one `next` message; nothing is
 * sent under its id after `complete` from either side; every rejection or end has a reason.
 */
export class Operation {
  readonly #id: string
  readonly #head: string
  readonly #alias: string
  readonly #echo: string
  readonly #plan: SharedPlan
  readonly #ports: OperationPorts
  /** Prefix of the frames of its channel. */
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

  /** Converts a /ws frame of this body. */
  send(frame: string): void {
    if (this.#isEnded) return
    if (frame.startsWith(this.#prefix)) return this.#ports.send(`${this.#head}${this.#plan.payload(frame)}}`)
    const { channel, data, code } = JSON.parse(frame) as { channel: string; data: string; code: string }
    // Acknowledgements and notices are not passed on.
    if (channel !== 'error') return
    const failure = { message: data, code: graphqlCode(code) }
    if (NON_FATAL_CODES.has(code)) this.#ports.send(`${this.#head}${failureEvent(this.#alias, failure)}}`)
    else if (!data.startsWith(REJECTED_PREFIX)) this.#sendFailure(failure)
    else {
      this.#sendFailure({ ...failure, message: this.#reasonOf(data) })
      this.#end()
    }
  }

  /** Ends the operation, because the relay has ended its client. */
  close(_: number, reason: string): void {
    if (this.#isEnded) return
    if (!this.#hasFailed) this.#sendFailure({ message: `${reason}.`, code: 'UNAVAILABLE' })
    this.#end()
  }

  /** Call it when the client has ended the operation. Nothing more is sent. */
  onClosed(): void {
    this.#isEnded = true
  }

  #sendFailure(failure: GraphqlFailure): void {
    this.#hasFailed = true
    this.#ports.send(`${this.#head}${failurePayload(failure)}}`)
  }

  #end(): void {
    this.#isEnded = true
    this.#ports.send(completeText(this.#id))
    this.#ports.onEnd()
  }

  /** Removes the body from a /ws error, because the client did not send it. */
  #reasonOf(text: string): string {
    const rest = text.slice(REJECTED_PREFIX.length)
    const echo = ` ${this.#echo}`
    return (rest.startsWith(echo) ? rest.slice(echo.length) : rest).replace(/^: /, '')
  }
}
