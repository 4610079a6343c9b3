// Operations of the sockets of one relay, from subscribe to what they are: subscriptions, or queries. Laws: nothing of one
// that was refused stays behind; work that nobody pays for is bounded by key, and what waits by its text.

import { failureMessage } from '../../core/failure.ts'
import { FreeWork, tooMuchFreeWork } from '../../core/free-work.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import type { AnyStateChannel } from '../channel.ts'
import { Backlog } from '../sockets/backlog.ts'
import { type Clock, Connection } from '../sockets/connection.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { type Asked, type Kept, type Payload, readDocument, readKept } from './document.ts'
import { type GraphqlSocket, type Running, within } from './graphql-socket.ts'
import { codeOf, completeText, errorText, nextHead, type Wrong, wrongEvent, wrongPayload } from './messages.ts'
import { type SharedPlan, SharedPlans } from './shared-plans.ts'

export interface OperationsPorts {
  readonly clock: Clock
  readonly subscriptions: Pick<Subscriptions, 'subscribe' | 'ended' | 'backlog'>
  readonly waitUntil: WaitUntil
  /** A subscription or a socket may have begun. */
  readonly changed: () => void
}

/** Of one socket. */
const MAX_OPERATIONS = 1_000
/** An answer of so many characters counts as one that costs nothing, a longer one as several. */
const FREE_CHARS = 16 * 1024

const tooMany = (message: string): Wrong => ({ message, code: 'RATE_LIMITED' })
const tooManyFree = (waitMs: number) => tooMany(failureMessage(tooMuchFreeWork(waitMs)))
const unavailable = (message: string): Wrong => ({ message, code: 'UNAVAILABLE' })
const TOO_FAST = tooMany('Too many messages: slow down.')
const TOO_MANY = tooMany(`At most ${MAX_OPERATIONS} subscriptions per connection: open another one.`)
const TOO_MANY_WAIT = tooMany('Too many requests of this account wait: send more as answers come.')
const CROWDED = unavailable('As many selections are served here as can be: open another connection.')
const ASLEEP = unavailable('This subscription did not outlive a restart: subscribe again.')
const FAILED: Wrong = { message: 'Something went wrong here: subscribe again.', code: 'INTERNAL' }

/** A subscribe that is served. */
interface Request {
  readonly one: GraphqlSocket
  readonly running: Running
  readonly id: string
  readonly payload: Payload
}

export class Operations {
  readonly #ports: OperationsPorts
  readonly #plans: SharedPlans
  readonly #freeWork = new FreeWork()
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
  look(): void {
    this.#plans.look()
  }

  /** Of a socket that has introduced itself, with an id that is free. `isAdmitted`: false where it is to be refused. */
  begin(one: GraphqlSocket, id: string, payload: Payload, isAdmitted: boolean, length: number): void {
    const running: Running = { begun: null }
    one.operations.set(id, running)
    if (!isAdmitted) return one.refuse(id, TOO_FAST)
    if (one.operations.size > MAX_OPERATIONS) return one.refuse(id, TOO_MANY)
    const leave = this.#early.take(one.address ?? one.id, length)
    if (!leave) return one.refuse(id, TOO_MANY_WAIT)
    this.#ports.waitUntil(this.#enqueue({ one, running, id, payload }, length, leave))
  }

  /** One that slept with the relay, as a client of it; null where it can be no more, and its client was told. */
  wake(
    one: GraphqlSocket,
    connection: Connection,
    { operation, echo }: { readonly operation: string; readonly echo: string },
  ): Connection | null {
    const { id, ...kept } = JSON.parse(operation) as Kept & { id: string }
    const asked = readKept(kept, echo)
    const running: Running = { begun: null }
    one.operations.set(id, running)
    if (asked) return this.#operate(one, connection, running, id, asked)
    one.refuse(id, ASLEEP)
    return null
  }

  /** Behind those of its socket that came before. Never rejects. */
  async #enqueue(request: Request, length: number, entered: () => void): Promise<void> {
    const { one, running, id } = request
    const found = await one.entered
    entered()
    if (!found || one.operations.get(id) !== running) return
    if (!found.ok) return one.refuse(id, found.error)
    const connection = found.value
    const leave = this.#ports.subscriptions.backlog.take(connection.identity.account, length)
    if (!leave) return one.refuse(id, TOO_MANY_WAIT)
    const failed = (error: unknown) => {
      console.error('an operation of GraphQL failed', error)
      one.complete(id)
      one.refuse(id, FAILED)
    }
    connection.enqueue(() => this.#serve(connection, request).catch(failed).finally(leave))
    await connection.drained()
  }

  async #serve(connection: Connection, { one, running, id, payload }: Request): Promise<void> {
    if (one.operations.get(id) !== running || connection.ended) return
    const { keyHash } = connection.identity
    // To tell a document that is charged from one that is free takes reading it, which is work.
    const untilTryMs = this.#freeWork.tryWork(keyHash, this.#ports.clock.nowMs)
    if (untilTryMs > 0) return one.refuse(id, tooManyFree(untilTryMs))
    const asked = readDocument(payload)
    if (asked.ok && asked.value.kind === 'subscription') {
      this.#freeWork.charged(keyHash, this.#ports.clock.nowMs)
      const { alias, plan, echo, body, meta, fromBlock } = asked.value
      if (!this.#plans.hasRoom(alias, plan, echo)) return one.refuse(id, CROWDED)
      const client = this.#operate(one, connection, running, id, asked.value)
      await this.#ports.subscriptions.subscribe(client, { method: 'subscribe', subscription: body, meta, fromBlock })
      return this.#ports.changed()
    }
    const answer = asked.ok && asked.value.kind === 'query' ? asked.value.text : ''
    const waitMs = this.#freeWork.owe(keyHash, this.#ports.clock.nowMs)
    for (let at = FREE_CHARS; at <= answer.length; at += FREE_CHARS)
      this.#freeWork.owe(keyHash, this.#ports.clock.nowMs)
    one.operations.delete(id)
    if (waitMs > 0) return one.refuse(id, tooManyFree(waitMs))
    if (!asked.ok) return one.tell(errorText(id, asked.error))
    one.tell(`${nextHead(id)}${answer}}`)
    one.tell(completeText(id))
  }

  /** The client that stands for an operation. */
  #operate(
    one: GraphqlSocket,
    connection: Connection,
    running: Running,
    id: string,
    asked: Pick<Asked, 'alias' | 'plan' | 'echo' | 'wanted'>,
  ): Connection {
    const { alias, plan, echo } = asked
    const { identity, terms } = connection
    const shared = this.#plans.take(alias, plan, echo)
    const ports = { send: (text: string) => one.tell(text), over: () => client.gone() }
    const operation = new Operation(id, asked, shared, ports)
    const ended = () => {
      if (one.operations.get(id) === running) one.operations.delete(id)
      this.#plans.giveBack(alias, plan, echo)
      this.#ports.subscriptions.ended(client)
    }
    const { clock } = this.#ports
    const client: Connection = new Connection(one.id, { identity, terms }, operation, clock, ended, within(connection))
    client.product = 'graphql'
    client.operation = { id, alias, key: plan.key }
    running.begun = { operation, client }
    return client
  }
}

/** Of the socket. */
interface OperationPorts {
  send(text: string): void
  /** It is over by the relay's doing. */
  over(): void
}

/** Errors of /ws after which a subscription goes on. */
const GOES_ON: ReadonlySet<string> = new Set(['gap', 'replay_unavailable'])
/** How /ws says that a body is no subscription, or is none any more. */
const REFUSED = 'Invalid subscription'

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
  #isOver = false
  #isTold = false

  constructor(
    id: string,
    { alias, echo, wanted }: Pick<Asked, 'alias' | 'echo' | 'wanted'>,
    plan: SharedPlan,
    ports: OperationPorts,
  ) {
    this.#id = id
    this.#head = nextHead(id)
    this.#alias = alias
    this.#echo = echo
    this.#plan = plan
    this.#ports = ports
    const { channel, body } = wanted
    const { type, frames = type, framesOf } = channel as AnyStateChannel
    this.#prefix = `{"channel":"${framesOf?.(body) ?? frames}",`
  }

  /** A frame of /ws for this body. */
  send(frame: string): void {
    if (this.#isOver) return
    if (frame.startsWith(this.#prefix)) return this.#ports.send(`${this.#head}${this.#plan.payload(frame)}}`)
    const { channel, data, code } = JSON.parse(frame) as { channel: string; data: string; code: string }
    // An acknowledgement, or a remark.
    if (channel !== 'error') return
    const wrong = { message: data, code: codeOf(code) }
    if (GOES_ON.has(code)) this.#ports.send(`${this.#head}${wrongEvent(this.#alias, wrong)}}`)
    else if (!data.startsWith(REFUSED)) this.#tell(wrong)
    else {
      this.#tell({ ...wrong, message: this.#reasonOf(data) })
      this.#end()
    }
  }

  /** The relay ends what it is a client of. */
  close(_: number, reason: string): void {
    if (this.#isOver) return
    if (!this.#isTold) this.#tell({ message: `${reason}.`, code: 'UNAVAILABLE' })
    this.#end()
  }

  /** The client has ended it: nothing more is said of it. */
  gone(): void {
    this.#isOver = true
  }

  #tell(wrong: Wrong): void {
    this.#isTold = true
    this.#ports.send(`${this.#head}${wrongPayload(wrong)}}`)
  }

  #end(): void {
    this.#isOver = true
    this.#ports.send(completeText(this.#id))
    this.#ports.over()
  }

  /** Without what /ws says of the body, which the client did not send. */
  #reasonOf(text: string): string {
    const rest = text.slice(REFUSED.length)
    const echo = ` ${this.#echo}`
    return (rest.startsWith(echo) ? rest.slice(echo.length) : rest).replace(/^: /, '')
  }
}
