// States of users and markets from info responses, sent to all subscribers. Invariants: a request is polled once for
// all bodies and channels that need it, and only while they do; an unchanged state is not sent again, except every few
// seconds if its channel repeats; a failing request delays only its own subscribers.

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
  /** Returns base64 of the raw-deflated string. */
  deflate(text: string): Promise<string>
  /** Logs the error. */
  onDeflateError(type: string, error: unknown): void
  /** Keeps work alive after the response. */
  waitUntil(work: Promise<unknown>): void
}

/** Info types whose responses change with every placed or canceled order. */
const ORDER_TYPES: ReadonlySet<string> = new Set(['frontendOpenOrders', 'historicalOrders'])

/** Concurrent requests. Accounts take turns, and one account uses at most half. */
const MAX_IN_FLIGHT = 8
const TICK_MS = 250
const REPEAT_MS = 4_000
/** After this many failures, the last response of a request is no longer combined with newer ones. */
const MAX_FAILURES = 4
/** Subscribers are notified when their state was unavailable for this long. */
const SILENT_MS = 30_000
/** Limit for new subscriptions. Each poll costs some kilobytes and a request every few seconds. */
const MAX_POLLS = 2_000

type Orders = Pick<EventFanout<never>, 'addOrderUsers' | 'removeOrderUsers'>

const NEW_TOPIC = { polls: [], lastSent: null, mark: undefined, deflating: Promise.resolve() }

interface Poll<R> {
  readonly key: string
  readonly request: InfoRequest
  readonly pace: Pace
  /** The latest queue ticket of the poll. */
  ticket?: Ticket
  /** Topics that use the poll, with their intervals in ms. */
  readonly topics: Map<Topic<R>, number>
}

/** One distinct body and its subscribers. */
interface Topic<R> {
  readonly target: StatesTarget
  /** Receivers with their accounts. */
  readonly receivers: Map<R, string>
  /** Receivers that have received nothing yet. */
  newReceivers: Set<R>
  polls: readonly Poll<R>[]
  readonly parts: Map<Poll<R>, unknown>
  /** Digest and time of the last sent state. */
  lastSent: { readonly digest: string; readonly atMs: number } | null
  mark: unknown
  /** Frames being deflated. They are sent in order. */
  deflating: Promise<unknown>
  /**
   * When the state was last available, or the start; infinite after subscribers have been notified that it is unavailable.
   */
  lastShownMs: number
}

export class StateFanout<R extends PacedReceiver> {
  readonly #ports: StatePorts
  readonly #topics = new Map<string, Topic<R>>()
  readonly #polls = new Map<string, Poll<R>>()
  readonly #pollsByUser = new Map<string, Set<Poll<R>>>()
  readonly #queue = new FairQueue(MAX_IN_FLIGHT)
  /** Subscribes to order statuses of users. */
  readonly #orders: Orders
  #isTicking = false

  constructor(ports: StatePorts, orders: Orders) {
    this.#ports = ports
    this.#orders = orders
  }

  get isFull(): boolean {
    return this.#polls.size >= MAX_POLLS
  }

  /** Whether blocks are needed to detect changes of user states. */
  get needsBlocks(): boolean {
    return this.#pollsByUser.size > 0
  }

  /** `key` identifies the distinct body. The first frame comes with the next response, never before this returns. */
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
      topic = { ...NEW_TOPIC, target, receivers, newReceivers: fresh, parts, lastShownMs: nowMs }
      this.#topics.set(key, topic)
      this.#updatePolls(topic)
    }
    topic.receivers.set(receiver, account)
    topic.newReceivers.add(receiver)
    for (const { ticket } of topic.polls) {
      // If the current ticket waits in a longer queue than necessary, it is canceled.
      if (ticket && this.#queue.waitingCount(account) < this.#queue.waitingCount(ticket.account))
        this.#queue.cancel(ticket, 'canceled')
    }
    this.#pollDue()
  }

  remove(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    topic?.newReceivers.delete(receiver)
    if (!topic?.receivers.delete(receiver) || topic.receivers.size > 0) return
    this.#topics.delete(key)
    for (const poll of topic.polls) this.#stopPoll(poll, topic)
  }

  /** A block may have changed the states of its users. */
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

  /** Updates the polls of a topic as far as they are known. */
  #updatePolls(topic: Topic<R>): void {
    const { target, polls, parts } = topic
    const requests = target.channel.requests(target.body, polls[0] && parts.get(polls[0]))
    topic.polls = requests.map(([request, everyMs]) => {
      const poll = this.#pollOf(request)
      if (!poll.topics.has(topic)) poll.pace.hasten(this.#ports.clock.nowMs)
      poll.topics.set(topic, everyMs)
      return poll
    })
    for (const poll of polls) if (!topic.polls.includes(poll)) this.#stopPoll(poll, topic)
  }

  #pollOf(request: InfoRequest): Poll<R> {
    const key = canonicalJson(request)
    return getOrCreate(this.#polls, key, () => {
      const poll: Poll<R> = { key, request, pace: new Pace(this.#ports.clock.nowMs), topics: new Map() }
      if (typeof request.user === 'string') {
        getOrCreate(this.#pollsByUser, request.user, () => new Set()).add(poll)
        if (ORDER_TYPES.has(request.type)) this.#orders.addOrderUsers([request.user])
      }
      return poll
    })
  }

  #stopPoll(poll: Poll<R>, topic: Topic<R>): void {
    const { key, request, topics } = poll
    topic.parts.delete(poll)
    topics.delete(topic)
    if (topics.size > 0) return
    this.#polls.delete(key)
    if (ORDER_TYPES.has(request.type)) this.#orders.removeOrderUsers([String(request.user)])
    const ofUser = this.#pollsByUser.get(String(request.user))
    ofUser?.delete(poll)
    if (ofUser?.size === 0) this.#pollsByUser.delete(String(request.user))
  }

  /** Starts due polls, and schedules the next check while there are polls. */
  #pollDue(): void {
    const { clock, waitUntil, after: updateSend } = this.#ports
    for (const poll of this.#polls.values()) if (poll.pace.isDue(clock.nowMs)) waitUntil(this.#poll(poll))
    if (this.#isTicking || this.#polls.size === 0) return
    this.#isTicking = true
    updateSend(TICK_MS, () => {
      this.#isTicking = false
      this.#pollDue()
    })
  }

  async #poll(poll: Poll<R>): Promise<void> {
    const { clock, read } = this.#ports
    const { request, pace, topics } = poll
    pace.onQueued()
    const ticket = await this.#acquireSlot(poll)
    pace.onSent(clock.nowMs)
    // The poll's subscribers may have left meanwhile.
    const reply = topics.size === 0 ? null : await read(request).catch(() => null)
    this.#queue.release(ticket)
    if (reply && pace.failures > 0) for (const other of this.#polls.values()) other.pace.onRecovery(clock.nowMs)
    if (reply) pace.onSuccess(clock.nowMs, Math.min(...topics.values()))
    else pace.onFailure(clock.nowMs)
    const response = reply && lazyResponse(reply.body)
    for (const topic of [...topics.keys()]) if (topics.has(topic)) await this.#handleResponse(topic, poll, response)
    this.#pollDue()
  }

  /**
   * Uses the subscriber account with the shortest queue, so that no account waits for unrelated requests of another
   * account.
   */
  async #acquireSlot(poll: Poll<R>): Promise<Ticket> {
    for (;;) {
      const accounts = new Set([...poll.topics.keys()].flatMap(({ receivers }) => [...receivers.values()]))
      const [account = ''] = [...accounts].sort((a, b) => this.#queue.waitingCount(a) - this.#queue.waitingCount(b))
      const ticket = this.#queue.enqueue(account)
      poll.ticket = ticket
      if ((await ticket.turn) === 'granted') return ticket
    }
  }

  async #handleResponse(topic: Topic<R>, poll: Poll<R>, response: StateResponse | null): Promise<void> {
    try {
      if (response) topic.parts.set(poll, topic.target.channel.extract(response, poll.request))
      else if (poll.pace.failures >= MAX_FAILURES) topic.parts.delete(poll)
      if (response && poll === topic.polls[0]) this.#updatePolls(topic)
      // When several responses arrive together, the last one triggers the send. If some request is always in flight, a
      // late state is sent anyway.
      const { lastShownMs, polls, parts } = topic
      const isLate = lastShownMs === Number.POSITIVE_INFINITY || this.#ports.clock.nowMs - lastShownMs >= SILENT_MS
      if (polls.every((one) => parts.has(one) && (isLate || !one.pace.isInFlight))) await this.#publish(topic)
    } catch {
      // The response is malformed or of the wrong kind.
    }
    if (this.#ports.clock.nowMs - topic.lastShownMs < SILENT_MS) return
    topic.lastShownMs = Number.POSITIVE_INFINITY
    const text = `${topic.target.channel.type} data is unavailable. It follows as soon as possible.`
    for (const receiver of topic.receivers.keys()) receiver.send(notificationFrame(text))
  }

  async #publish(topic: Topic<R>): Promise<void> {
    const { target, polls, parts, receivers, newReceivers, lastShownMs } = topic
    const { channel, body } = target
    const current = polls.map((poll) => parts.get(poll))
    const delta = channel.changes?.(body, current, topic.mark)
    const full = newReceivers.size > 0 || !delta ? channel.data(body, current) : null
    const others = [...receivers.keys()].filter((receiver) => !newReceivers.has(receiver))
    const update = delta ? delta.text : full !== null && this.#isChanged(topic, full) ? full : null
    topic.mark = delta?.mark
    topic.newReceivers = new Set()
    topic.lastShownMs = this.#ports.clock.nowMs
    // If the state has only one part, that part is never needed again, and it may be large.
    if (polls.length === 1) parts.clear()
    const firstSend = full !== null && newReceivers.size > 0 ? this.#send(topic, newReceivers, full, true) : true
    const updateSend = update !== null && others.length > 0 ? this.#send(topic, others, update) : true
    if ((await Promise.all([firstSend, updateSend])).includes(false)) topic.lastShownMs = lastShownMs
  }

  #isChanged(topic: Topic<R>, data: string): boolean {
    const { lastSent, target } = topic
    const digest = `${data.length} ${hash32(data)}`
    const atMs = this.#ports.clock.nowMs
    const isNews = lastSent?.digest !== digest || (target.channel.repeats === true && atMs - lastSent.atMs >= REPEAT_MS)
    if (isNews) topic.lastSent = { digest, atMs }
    return isNews
  }

  /** False if deflating failed. The next poll sends the full state. */
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
      // A receiver may have left and returned. Without room, the next poll serves it.
      if (!receivers.has(receiver) || (!isFirst && newReceivers.has(receiver))) continue
      if (isFirst && text.length > PACED_BYTES && receiver.snapshotWaitMs(text.length) > 0) newReceivers.add(receiver)
      else receiver.send(text)
    }
  }
}

const GAP_MS = 1_000
/** Maximum lag of a source behind the blocks. */
const LATE_MS = 2_000
const RETRY = { firstMs: 1_000, capMs: 15_000, jitter: 0 }

/**
 * Schedule of one poll. Invariants: one request at a time, at most one per second; soon after an event that may change
 * the response, and again once every source must know of it; increasing delays after failures, and a retry when another
 * failed source recovers.
 */
class Pace {
  #dueMs: number
  #sentMs = Number.NEGATIVE_INFINITY
  #eventMs = Number.NEGATIVE_INFINITY
  /** Queued or in flight. */
  isInFlight = false
  /** Failures since the last response. */
  failures = 0

  constructor(nowMs: number) {
    this.#dueMs = nowMs
  }

  isDue(nowMs: number): boolean {
    return !this.isInFlight && this.#dueMs <= nowMs
  }

  /** Makes the poll due as soon as the minimum gap allows. This has no effect during a request or after a failure. */
  hasten(nowMs: number): void {
    if (!this.isInFlight && this.failures === 0) this.#dueBy(Math.max(nowMs, this.#sentMs + GAP_MS))
  }

  /** Records an event that may change the response. */
  onEvent(nowMs: number): void {
    this.#eventMs = nowMs
    this.hasten(nowMs)
  }

  /** The request waits in the queue. */
  onQueued(): void {
    this.isInFlight = true
  }

  onSent(nowMs: number): void {
    this.#sentMs = nowMs
  }

  /** A response arrived. Polls that were due together stay due together. */
  onSuccess(nowMs: number, everyMs: number): void {
    this.isInFlight = false
    this.failures = 0
    this.#dueMs = Math.max(this.#dueMs + everyMs, nowMs + everyMs / 2)
    const settledMs = this.#eventMs + LATE_MS
    if (this.#sentMs >= settledMs) return
    const isMissed = this.#sentMs <= this.#eventMs
    this.#dueBy(Math.max(this.#sentMs + GAP_MS, isMissed ? nowMs : settledMs))
  }

  /** The source of another failed request responds again. */
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
