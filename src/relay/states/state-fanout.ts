// States of users and markets: what info answers, told to all who subscribed. Laws: a question is asked once for all
// bodies and channels that want it, and no more when nobody does; a state that is as it was is not sent again but every
// few seconds where its channel says so; a question that fails keeps nobody waiting but who wants it.

import { backoffMs } from '../../core/backoff.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { After } from '../../core/deadline.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { hash32 } from '../../core/hash.ts'
import type { AccountId } from '../../core/ids.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { notificationFrame } from '../../protocol/relay/frames.ts'
import { FairQueue, type Ticket } from '../books/fair-queue.ts'
import { type InfoRequest, lazyResponse, type StateResponse, type StatesTarget } from '../channel.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import { PACED_BYTES, type PacedReceiver } from '../events/event-frames.ts'
import type { FirstFramePorts } from '../events/first-frames.ts'
import { twapEvents } from '../events/twap-view.ts'

export interface StatePorts extends Pick<FirstFramePorts, 'read' | 'clock'> {
  readonly after: After
  /** Base64 of the text, deflated without a head. */
  deflate(text: string): Promise<string>
  /** For people. */
  onDeflateError(type: string, error: unknown): void
  /** Work that goes on when the request is answered. */
  waitUntil(work: Promise<unknown>): void
}

/** Questions whose answers change with every order that is placed or cancelled. */
const ORDER_TYPES: ReadonlySet<string> = new Set(['frontendOpenOrders', 'historicalOrders'])

/** Answers under way at once; accounts take turns, and one alone has half of them. */
const MAX_IN_FLIGHT = 8
const TICK_MS = 250
const REPEAT_MS = 4_000
/** After so many failures what a question was last answered is no longer shown beside what is new. */
const MAX_FAILURES = 4
/** Subscribers are told when their state could not be shown for so long. */
const SILENT_MS = 30_000
/** At this many no further subscription begins. Each costs some kilobytes, and a read every few seconds. */
const MAX_POLLS = 2_000

type Orders = Pick<EventFanout<never>, 'addOrderUsers' | 'removeOrderUsers'>

const NEW_TOPIC = { polls: [], lastSent: null, mark: undefined, deflating: Promise.resolve() }

interface Poll<R> {
  readonly key: string
  readonly request: InfoRequest
  readonly pace: Pace
  /** Its last turn. */
  ticket?: Ticket
  /** Who wants it, and how often, in ms. */
  readonly topics: Map<Topic<R>, number>
}

/** One distinct body and the sockets that subscribed to it. */
interface Topic<R> {
  readonly target: StatesTarget
  /** With their accounts. */
  readonly receivers: Map<R, string>
  /** Those that were sent nothing yet. */
  newReceivers: Set<R>
  polls: readonly Poll<R>[]
  readonly parts: Map<Poll<R>, unknown>
  /** What was last sent, and when. */
  lastSent: { readonly digest: string; readonly atMs: number } | null
  mark: unknown
  /** Frames that are being packed: each goes out behind those before it. */
  deflating: Promise<unknown>
  /** When it could last be shown, or began; infinite where its subscribers were told that it cannot. */
  lastShownMs: number
}

export class StateFanout<R extends PacedReceiver> {
  readonly #ports: StatePorts
  readonly #topics = new Map<string, Topic<R>>()
  readonly #polls = new Map<string, Poll<R>>()
  readonly #pollsByUser = new Map<string, Set<Poll<R>>>()
  readonly #queue = new FairQueue(MAX_IN_FLIGHT)
  /** Blocks are to hold order statuses of users. */
  readonly #orders: Orders
  #isTicking = false

  constructor(ports: StatePorts, orders: Orders) {
    this.#ports = ports
    this.#orders = orders
  }

  get isFull(): boolean {
    return this.#polls.size >= MAX_POLLS
  }

  /** Blocks are needed: they tell when the state of a user may have changed. */
  get needsBlocks(): boolean {
    return this.#pollsByUser.size > 0
  }

  /** `key` names the distinct body; the first frame comes with the next answer, never before this returns. */
  add(key: string, target: StatesTarget, receiver: R, account: AccountId): void {
    const { nowMs } = this.#ports.clock
    let topic = this.#topics.get(key)
    if (topic) {
      for (const { pace } of topic.polls) pace.hasten(nowMs)
      topic.lastShownMs = Math.min(topic.lastShownMs, nowMs)
    } else {
      const receivers = new Map<R, string>()
      const fresh = new Set<R>()
      const parts = new Map()
      topic = { ...NEW_TOPIC, target: target, receivers, newReceivers: fresh, parts, lastShownMs: nowMs }
      this.#topics.set(key, topic)
      this.#updatePolls(topic)
    }
    topic.receivers.set(receiver, account)
    topic.newReceivers.add(receiver)
    for (const { ticket } of topic.polls) {
      // It waits in a longer line than it need.
      if (ticket && this.#queue.waitingCount(account) < this.#queue.waitingCount(ticket.account))
        this.#queue.cancel(ticket, 'left')
    }
    this.#pollDue()
  }

  remove(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    topic?.newReceivers.delete(receiver)
    if (!topic?.receivers.delete(receiver) || topic.receivers.size > 0) return
    this.#topics.delete(key)
    for (const question of topic.polls) this.#stopPoll(question, topic)
  }

  /** A block came: states of the users in it may have changed. */
  deliver(block: RelayEvents): void {
    if (this.#pollsByUser.size === 0) return
    const users = new Set([
      ...block.fills.map(([user]) => user),
      ...block.ledger.flatMap((event) => event.users),
      ...twapEvents(block).map(({ user }) => user),
      ...(block.orders ?? []).map((row) => String((row as { user?: unknown }).user)),
    ])
    const changed = [...users].flatMap((user) => [...(this.#pollsByUser.get(user) ?? [])])
    for (const { pace } of changed) pace.onEvent(this.#ports.clock.nowMs)
    if (changed.length > 0) this.#pollDue()
  }

  /** Gives a topic the questions that it is made of as far as that is known. */
  #updatePolls(topic: Topic<R>): void {
    const { target, polls, parts } = topic
    const asks = target.channel.requests(target.body, polls[0] && parts.get(polls[0]))
    topic.polls = asks.map(([ask, everyMs]) => {
      const question = this.#pollOf(ask)
      if (!question.topics.has(topic)) question.pace.hasten(this.#ports.clock.nowMs)
      question.topics.set(topic, everyMs)
      return question
    })
    for (const question of polls) if (!topic.polls.includes(question)) this.#stopPoll(question, topic)
  }

  #pollOf(ask: InfoRequest): Poll<R> {
    const key = canonicalJson(ask)
    return getOrCreate(this.#polls, key, () => {
      const question: Poll<R> = { key, request: ask, pace: new Pace(this.#ports.clock.nowMs), topics: new Map() }
      if (typeof ask.user === 'string') {
        getOrCreate(this.#pollsByUser, ask.user, () => new Set()).add(question)
        if (ORDER_TYPES.has(ask.type)) this.#orders.addOrderUsers([ask.user])
      }
      return question
    })
  }

  #stopPoll(question: Poll<R>, topic: Topic<R>): void {
    const { key, request, topics } = question
    topic.parts.delete(question)
    topics.delete(topic)
    if (topics.size > 0) return
    this.#polls.delete(key)
    if (ORDER_TYPES.has(request.type)) this.#orders.removeOrderUsers([String(request.user)])
    const ofUser = this.#pollsByUser.get(String(request.user))
    ofUser?.delete(question)
    if (ofUser?.size === 0) this.#pollsByUser.delete(String(request.user))
  }

  /** Asks what is due, and looks again soon as long as there is a question. */
  #pollDue(): void {
    const { clock, waitUntil, after } = this.#ports
    for (const question of this.#polls.values()) if (question.pace.isDue(clock.nowMs)) waitUntil(this.#poll(question))
    if (this.#isTicking || this.#polls.size === 0) return
    this.#isTicking = true
    after(TICK_MS, () => {
      this.#isTicking = false
      this.#pollDue()
    })
  }

  async #poll(question: Poll<R>): Promise<void> {
    const { clock, read } = this.#ports
    const { request, pace, topics } = question
    pace.onQueued()
    const ticket = await this.#acquireSlot(question)
    pace.onSent(clock.nowMs)
    // Who wanted it may have left the line.
    const found = topics.size === 0 ? null : await read(request).catch(() => null)
    this.#queue.release(ticket)
    if (found && pace.failures > 0) for (const other of this.#polls.values()) other.pace.onRecovery(clock.nowMs)
    if (found) pace.onSuccess(clock.nowMs, Math.min(...topics.values()))
    else pace.onFailure(clock.nowMs)
    const answer = found && lazyResponse(found.body)
    for (const topic of [...topics.keys()]) if (topics.has(topic)) await this.#handleResponse(topic, question, answer)
    this.#pollDue()
  }

  /** Of all who want it the one whose line is shortest has it read: nobody waits for what another wants beside it. */
  async #acquireSlot(question: Poll<R>): Promise<Ticket> {
    for (;;) {
      const accounts = new Set([...question.topics.keys()].flatMap(({ receivers }) => [...receivers.values()]))
      const [account = ''] = [...accounts].sort((a, b) => this.#queue.waitingCount(a) - this.#queue.waitingCount(b))
      const ticket = this.#queue.enqueue(account)
      question.ticket = ticket
      if ((await ticket.turn) === 'now') return ticket
    }
  }

  async #handleResponse(topic: Topic<R>, question: Poll<R>, answer: StateResponse | null): Promise<void> {
    try {
      if (answer) topic.parts.set(question, topic.target.channel.extract(answer, question.request))
      else if (question.pace.failures >= MAX_FAILURES) topic.parts.delete(question)
      if (answer && question === topic.polls[0]) this.#updatePolls(topic)
      // Of answers that come together the last one tells them all, but where one of many is always under way.
      const { lastShownMs, polls, parts } = topic
      const isLate = lastShownMs === Number.POSITIVE_INFINITY || this.#ports.clock.nowMs - lastShownMs >= SILENT_MS
      if (polls.every((one) => parts.has(one) && (isLate || !one.pace.isInFlight))) await this.#publish(topic)
    } catch {
      // It is no answer, or none of what is asked for.
    }
    if (this.#ports.clock.nowMs - topic.lastShownMs < SILENT_MS) return
    topic.lastShownMs = Number.POSITIVE_INFINITY
    const text = `What ${topic.target.channel.type} shows cannot be read at the moment: it follows as soon as it can be.`
    for (const receiver of topic.receivers.keys()) receiver.send(notificationFrame(text))
  }

  async #publish(topic: Topic<R>): Promise<void> {
    const { target, polls, parts, receivers, newReceivers, lastShownMs } = topic
    const { channel, body } = target
    const shown = polls.map((question) => parts.get(question))
    const news = channel.changes?.(body, shown, topic.mark)
    const whole = newReceivers.size > 0 || !news ? channel.data(body, shown) : null
    const others = [...receivers.keys()].filter((receiver) => !newReceivers.has(receiver))
    const rest = news ? news.text : whole !== null && this.#isChanged(topic, whole) ? whole : null
    topic.mark = news?.mark
    topic.newReceivers = new Set()
    topic.lastShownMs = this.#ports.clock.nowMs
    // A part of one alone is never needed again, and may be large.
    if (polls.length === 1) parts.clear()
    const first = whole !== null && newReceivers.size > 0 ? this.#send(topic, newReceivers, whole, true) : true
    const after = rest !== null && others.length > 0 ? this.#send(topic, others, rest) : true
    if ((await Promise.all([first, after])).includes(false)) topic.lastShownMs = lastShownMs
  }

  #isChanged(topic: Topic<R>, data: string): boolean {
    const { lastSent, target } = topic
    const digest = `${data.length} ${hash32(data)}`
    const atMs = this.#ports.clock.nowMs
    const isNews = lastSent?.digest !== digest || (target.channel.repeats === true && atMs - lastSent.atMs >= REPEAT_MS)
    if (isNews) topic.lastSent = { digest, atMs }
    return isNews
  }

  /** False where it could not be packed: the next reading brings the whole. */
  async #send(topic: Topic<R>, to: Iterable<R>, data: string, isFirst = false): Promise<boolean> {
    const { deflating: before, receivers, target } = topic
    if (!target.channel.isDeflated) {
      this.#deliver(topic, to, data, isFirst)
      return true
    }
    const packed = this.#ports.deflate(data).catch((error) => {
      this.#ports.onDeflateError(target.channel.type, error)
      return null
    })
    const sent = Promise.all([packed, before]).then(([text]) => {
      if (text !== null) this.#deliver(topic, to, JSON.stringify(text), isFirst)
      else for (const receiver of to) if (receivers.has(receiver)) topic.newReceivers.add(receiver)
      return text !== null
    })
    topic.deflating = Promise.allSettled([sent, before])
    return await sent
  }

  #deliver({ target, receivers, newReceivers }: Topic<R>, to: Iterable<R>, data: string, isFirst: boolean): void {
    const { type, frameName = type, frameNameOf } = target.channel
    const text = `{"channel":"${frameNameOf?.(target.body) ?? frameName}","data":${data}}`
    for (const receiver of to) {
      // One may have left meanwhile, and be back; for whom there is no room, the next reading brings it.
      if (!receivers.has(receiver) || (!isFirst && newReceivers.has(receiver))) continue
      if (isFirst && text.length > PACED_BYTES && receiver.snapshotWaitMs(text.length) > 0) newReceivers.add(receiver)
      else receiver.send(text)
    }
  }
}

const GAP_MS = 1_000
/** A source may learn of what happened so much later than the blocks say it. */
const LATE_MS = 2_000
const RETRY = { firstMs: 1_000, capMs: 30_000, jitter: 0 }

/**
 * When one question is to be asked again. Invariants: once at a time; never twice within a second; soon after something
 * happened that may change the answer, and once more when every source must know of it; after a failure ever more seldom,
 * and once more where another that had failed is answered again.
 */
class Pace {
  #dueMs: number
  #sentMs = Number.NEGATIVE_INFINITY
  #eventMs = Number.NEGATIVE_INFINITY
  /** Its turn has not come, or its answer. */
  isInFlight = false
  /** Times that it was asked since there was an answer. */
  failures = 0

  constructor(nowMs: number) {
    this.#dueMs = nowMs
  }

  isDue(nowMs: number): boolean {
    return !this.isInFlight && this.#dueMs <= nowMs
  }

  /** Somebody waits for an answer. */
  hasten(nowMs: number): void {
    if (!this.isInFlight && this.failures === 0) this.#dueBy(Math.max(nowMs, this.#sentMs + GAP_MS))
  }

  /** Something happened that may change the answer. */
  onEvent(nowMs: number): void {
    this.#eventMs = nowMs
    this.hasten(nowMs)
  }

  /** It waits for its turn. */
  onQueued(): void {
    this.isInFlight = true
  }

  onSent(nowMs: number): void {
    this.#sentMs = nowMs
  }

  /** There is an answer. Whoever makes questions due together has them due together again. */
  onSuccess(nowMs: number, everyMs: number): void {
    this.isInFlight = false
    this.failures = 0
    this.#dueMs = Math.max(this.#dueMs + everyMs, nowMs + everyMs / 2)
    const knownMs = this.#eventMs + LATE_MS
    if (this.#sentMs >= knownMs) return
    const isMissed = this.#sentMs <= this.#eventMs
    this.#dueBy(Math.max(this.#sentMs + GAP_MS, isMissed ? nowMs : knownMs))
  }

  /** The source of another question that failed answers again. */
  onRecovery(nowMs: number): void {
    if (!this.isInFlight && this.failures > 0) this.#dueBy(Math.max(nowMs, this.#sentMs + GAP_MS))
  }

  onFailure(nowMs: number): void {
    this.isInFlight = false
    this.#dueMs = nowMs + backoffMs(RETRY, this.failures++, 0)
  }

  #dueBy(atMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, atMs)
  }
}
