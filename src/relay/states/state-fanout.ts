// States of users and markets: what info answers, told to all who subscribed. Laws: a question is asked once for all
// bodies and channels that want it, and no more when nobody does; a state that is as it was is not sent again but every
// few seconds where its channel says so; a question that fails keeps nobody waiting but who wants it.

import { backoffMs } from '../../core/backoff.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { After } from '../../core/deadline.ts'
import { entryOf } from '../../core/entry-of.ts'
import { hash32 } from '../../core/hash.ts'
import type { AccountId } from '../../core/ids.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { notificationFrame } from '../../protocol/relay/frames.ts'
import { type Ticket, Turns } from '../books/turns.ts'
import { answerOf, type InfoQuestion, type StateAnswer, type WantedStates } from '../channel.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import type { FirstFramePorts } from '../events/first-frames.ts'
import { PACED_BYTES, type PacedReceiver } from '../events/parcels.ts'
import { twapEvents } from '../events/twap-view.ts'

export interface StatePorts extends Pick<FirstFramePorts, 'read' | 'clock'> {
  readonly after: After
  /** Base64 of the text, deflated without a head. */
  deflate(text: string): Promise<string>
  /** For people. */
  notPacked(type: string, error: unknown): void
  /** Work that goes on when the request is answered. */
  waitUntil(work: Promise<unknown>): void
}

/** Questions whose answers change with every order that is placed or cancelled. */
const OF_ORDERS: ReadonlySet<string> = new Set(['frontendOpenOrders', 'historicalOrders'])

/** Answers under way at once; accounts take turns, and one alone has half of them. */
const SEATS = 8
const TICK_MS = 250
const REPEAT_MS = 4_000
/** After so many failures what a question was last answered is no longer shown beside what is new. */
const TRIES = 4
/** Subscribers are told when their state could not be shown for so long. */
const SILENT_MS = 30_000
/** At this many no further subscription begins. Each costs some kilobytes, and a read every few seconds. */
const MOST_QUESTIONS = 2_000

type Orders = Pick<EventFanout<never>, 'wantOrders' | 'dropOrders'>

const BEGUN = { questions: [], told: null, mark: undefined, packing: Promise.resolve() }

interface Question<R> {
  readonly key: string
  readonly ask: InfoQuestion
  readonly pace: Pace
  /** Its last turn. */
  ticket?: Ticket
  /** Who wants it, and how often, in ms. */
  readonly topics: Map<Topic<R>, number>
}

/** One distinct body and the sockets that subscribed to it. */
interface Topic<R> {
  readonly wanted: WantedStates
  /** With their accounts. */
  readonly receivers: Map<R, string>
  /** Those that were sent nothing yet. */
  fresh: Set<R>
  questions: readonly Question<R>[]
  readonly parts: Map<Question<R>, unknown>
  /** What was last sent, and when. */
  told: { readonly digest: string; readonly atMs: number } | null
  mark: unknown
  /** Frames that are being packed: each goes out behind those before it. */
  packing: Promise<unknown>
  /** When it could last be shown, or began; infinite where its subscribers were told that it cannot. */
  shownMs: number
}

export class StateFanout<R extends PacedReceiver> {
  readonly #ports: StatePorts
  readonly #topics = new Map<string, Topic<R>>()
  readonly #questions = new Map<string, Question<R>>()
  readonly #ofUser = new Map<string, Set<Question<R>>>()
  readonly #turns = new Turns(SEATS)
  /** Blocks are to hold order statuses of users. */
  readonly #orders: Orders
  #isTicking = false

  constructor(ports: StatePorts, orders: Orders) {
    this.#ports = ports
    this.#orders = orders
  }

  get isFull(): boolean {
    return this.#questions.size >= MOST_QUESTIONS
  }

  /** Blocks are needed: they tell when the state of a user may have changed. */
  get needsBlocks(): boolean {
    return this.#ofUser.size > 0
  }

  /** `key` names the distinct body; the first frame comes with the next answer, never before this returns. */
  add(key: string, wanted: WantedStates, receiver: R, account: AccountId): void {
    const { nowMs } = this.#ports.clock
    let topic = this.#topics.get(key)
    if (topic) {
      for (const { pace } of topic.questions) pace.hasten(nowMs)
      topic.shownMs = Math.min(topic.shownMs, nowMs)
    } else {
      const receivers = new Map<R, string>()
      const fresh = new Set<R>()
      const parts = new Map()
      topic = { ...BEGUN, wanted, receivers, fresh, parts, shownMs: nowMs }
      this.#topics.set(key, topic)
      this.#want(topic)
    }
    topic.receivers.set(receiver, account)
    topic.fresh.add(receiver)
    for (const { ticket } of topic.questions) {
      // It waits in a longer line than it need.
      if (ticket && this.#turns.waiting(account) < this.#turns.waiting(ticket.account))
        this.#turns.leave(ticket, 'left')
    }
    this.#run()
  }

  remove(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    topic?.fresh.delete(receiver)
    if (!topic?.receivers.delete(receiver) || topic.receivers.size > 0) return
    this.#topics.delete(key)
    for (const question of topic.questions) this.#leave(question, topic)
  }

  /** A block came: states of the users in it may have changed. */
  deliver(block: RelayEvents): void {
    if (this.#ofUser.size === 0) return
    const users = new Set([
      ...block.fills.map(([user]) => user),
      ...block.ledger.flatMap((event) => event.users),
      ...twapEvents(block).map(({ user }) => user),
      ...(block.orders ?? []).map((row) => String((row as { user?: unknown }).user)),
    ])
    const changed = [...users].flatMap((user) => [...(this.#ofUser.get(user) ?? [])])
    for (const { pace } of changed) pace.happened(this.#ports.clock.nowMs)
    if (changed.length > 0) this.#run()
  }

  /** Gives a topic the questions that it is made of as far as that is known. */
  #want(topic: Topic<R>): void {
    const { wanted, questions, parts } = topic
    const asks = wanted.channel.asks(wanted.body, questions[0] && parts.get(questions[0]))
    topic.questions = asks.map(([ask, everyMs]) => {
      const question = this.#questionOf(ask)
      if (!question.topics.has(topic)) question.pace.hasten(this.#ports.clock.nowMs)
      question.topics.set(topic, everyMs)
      return question
    })
    for (const question of questions) if (!topic.questions.includes(question)) this.#leave(question, topic)
  }

  #questionOf(ask: InfoQuestion): Question<R> {
    const key = canonicalJson(ask)
    return entryOf(this.#questions, key, () => {
      const question: Question<R> = { key, ask, pace: new Pace(this.#ports.clock.nowMs), topics: new Map() }
      if (typeof ask.user === 'string') {
        entryOf(this.#ofUser, ask.user, () => new Set()).add(question)
        if (OF_ORDERS.has(ask.type)) this.#orders.wantOrders([ask.user])
      }
      return question
    })
  }

  #leave(question: Question<R>, topic: Topic<R>): void {
    const { key, ask, topics } = question
    topic.parts.delete(question)
    topics.delete(topic)
    if (topics.size > 0) return
    this.#questions.delete(key)
    if (OF_ORDERS.has(ask.type)) this.#orders.dropOrders([String(ask.user)])
    const ofUser = this.#ofUser.get(String(ask.user))
    ofUser?.delete(question)
    if (ofUser?.size === 0) this.#ofUser.delete(String(ask.user))
  }

  /** Asks what is due, and looks again soon as long as there is a question. */
  #run(): void {
    const { clock, waitUntil, after } = this.#ports
    for (const question of this.#questions.values())
      if (question.pace.isDue(clock.nowMs)) waitUntil(this.#read(question))
    if (this.#isTicking || this.#questions.size === 0) return
    this.#isTicking = true
    after(TICK_MS, () => {
      this.#isTicking = false
      this.#run()
    })
  }

  async #read(question: Question<R>): Promise<void> {
    const { clock, read } = this.#ports
    const { ask, pace, topics } = question
    pace.begin()
    const ticket = await this.#turn(question)
    pace.asked(clock.nowMs)
    // Who wanted it may have left the line.
    const found = topics.size === 0 ? null : await read(ask).catch(() => null)
    this.#turns.done(ticket)
    if (found && pace.fails > 0) for (const other of this.#questions.values()) other.pace.recovered(clock.nowMs)
    if (found) pace.landed(clock.nowMs, Math.min(...topics.values()))
    else pace.failed(clock.nowMs)
    const answer = found && answerOf(found.body)
    for (const topic of [...topics.keys()]) if (topics.has(topic)) await this.#take(topic, question, answer)
    this.#run()
  }

  /** Of all who want it the one whose line is shortest has it read: nobody waits for what another wants beside it. */
  async #turn(question: Question<R>): Promise<Ticket> {
    for (;;) {
      const accounts = new Set([...question.topics.keys()].flatMap(({ receivers }) => [...receivers.values()]))
      const [account = ''] = [...accounts].sort((a, b) => this.#turns.waiting(a) - this.#turns.waiting(b))
      const ticket = this.#turns.enter(account)
      question.ticket = ticket
      if ((await ticket.turn) === 'now') return ticket
    }
  }

  async #take(topic: Topic<R>, question: Question<R>, answer: StateAnswer | null): Promise<void> {
    try {
      if (answer) topic.parts.set(question, topic.wanted.channel.keep(answer, question.ask))
      else if (question.pace.fails >= TRIES) topic.parts.delete(question)
      if (answer && question === topic.questions[0]) this.#want(topic)
      // Of answers that come together the last one tells them all, but where one of many is always under way.
      const { shownMs, questions, parts } = topic
      const isLate = shownMs === Number.POSITIVE_INFINITY || this.#ports.clock.nowMs - shownMs >= SILENT_MS
      if (questions.every((one) => parts.has(one) && (isLate || !one.pace.isAsking))) await this.#tell(topic)
    } catch {
      // It is no answer, or none of what is asked for.
    }
    if (this.#ports.clock.nowMs - topic.shownMs < SILENT_MS) return
    topic.shownMs = Number.POSITIVE_INFINITY
    const text = `What ${topic.wanted.channel.type} shows cannot be read at the moment: it follows as soon as it can be.`
    for (const receiver of topic.receivers.keys()) receiver.send(notificationFrame(text))
  }

  async #tell(topic: Topic<R>): Promise<void> {
    const { wanted, questions, parts, receivers, fresh, shownMs } = topic
    const { channel, body } = wanted
    const shown = questions.map((question) => parts.get(question))
    const news = channel.news?.(body, shown, topic.mark)
    const whole = fresh.size > 0 || !news ? channel.data(body, shown) : null
    const others = [...receivers.keys()].filter((receiver) => !fresh.has(receiver))
    const rest = news ? news.text : whole !== null && this.#isNews(topic, whole) ? whole : null
    topic.mark = news?.mark
    topic.fresh = new Set()
    topic.shownMs = this.#ports.clock.nowMs
    // A part of one alone is never needed again, and may be large.
    if (questions.length === 1) parts.clear()
    const first = whole !== null && fresh.size > 0 ? this.#send(topic, fresh, whole, true) : true
    const after = rest !== null && others.length > 0 ? this.#send(topic, others, rest) : true
    if ((await Promise.all([first, after])).includes(false)) topic.shownMs = shownMs
  }

  #isNews(topic: Topic<R>, data: string): boolean {
    const { told, wanted } = topic
    const digest = `${data.length} ${hash32(data)}`
    const atMs = this.#ports.clock.nowMs
    const isNews = told?.digest !== digest || (wanted.channel.repeats === true && atMs - told.atMs >= REPEAT_MS)
    if (isNews) topic.told = { digest, atMs }
    return isNews
  }

  /** False where it could not be packed: the next reading brings the whole. */
  async #send(topic: Topic<R>, to: Iterable<R>, data: string, isFirst = false): Promise<boolean> {
    const { packing: before, receivers, wanted } = topic
    if (!wanted.channel.isPacked) {
      this.#hand(topic, to, data, isFirst)
      return true
    }
    const packed = this.#ports.deflate(data).catch((error) => {
      this.#ports.notPacked(wanted.channel.type, error)
      return null
    })
    const sent = Promise.all([packed, before]).then(([text]) => {
      if (text !== null) this.#hand(topic, to, JSON.stringify(text), isFirst)
      else for (const receiver of to) if (receivers.has(receiver)) topic.fresh.add(receiver)
      return text !== null
    })
    topic.packing = Promise.allSettled([sent, before])
    return await sent
  }

  #hand({ wanted, receivers, fresh }: Topic<R>, to: Iterable<R>, data: string, isFirst: boolean): void {
    const { type, frames = type, framesOf } = wanted.channel
    const text = `{"channel":"${framesOf?.(wanted.body) ?? frames}","data":${data}}`
    for (const receiver of to) {
      // One may have left meanwhile, and be back; for whom there is no room, the next reading brings it.
      if (!receivers.has(receiver) || (!isFirst && fresh.has(receiver))) continue
      if (isFirst && text.length > PACED_BYTES && receiver.snapshotWaitMs(text.length) > 0) fresh.add(receiver)
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
  #askedMs = Number.NEGATIVE_INFINITY
  #happenedMs = Number.NEGATIVE_INFINITY
  /** Its turn has not come, or its answer. */
  isAsking = false
  /** Times that it was asked since there was an answer. */
  fails = 0

  constructor(nowMs: number) {
    this.#dueMs = nowMs
  }

  isDue(nowMs: number): boolean {
    return !this.isAsking && this.#dueMs <= nowMs
  }

  /** Somebody waits for an answer. */
  hasten(nowMs: number): void {
    if (!this.isAsking && this.fails === 0) this.#dueBy(Math.max(nowMs, this.#askedMs + GAP_MS))
  }

  /** Something happened that may change the answer. */
  happened(nowMs: number): void {
    this.#happenedMs = nowMs
    this.hasten(nowMs)
  }

  /** It waits for its turn. */
  begin(): void {
    this.isAsking = true
  }

  asked(nowMs: number): void {
    this.#askedMs = nowMs
  }

  /** There is an answer. Whoever makes questions due together has them due together again. */
  landed(nowMs: number, everyMs: number): void {
    this.isAsking = false
    this.fails = 0
    this.#dueMs = Math.max(this.#dueMs + everyMs, nowMs + everyMs / 2)
    const knownMs = this.#happenedMs + LATE_MS
    if (this.#askedMs >= knownMs) return
    const isMissed = this.#askedMs <= this.#happenedMs
    this.#dueBy(Math.max(this.#askedMs + GAP_MS, isMissed ? nowMs : knownMs))
  }

  /** The source of another question that failed answers again. */
  recovered(nowMs: number): void {
    if (!this.isAsking && this.fails > 0) this.#dueBy(Math.max(nowMs, this.#askedMs + GAP_MS))
  }

  failed(nowMs: number): void {
    this.isAsking = false
    this.#dueMs = nowMs + backoffMs(RETRY, this.fails++, 0)
  }

  #dueBy(atMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, atMs)
  }
}
