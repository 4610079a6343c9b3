// Sends the events of each block to their subscribers; the channels define what they show. Invariants: work per block
// depends only on the matching bodies; a frame is built once per distinct body, or once per name for channels that
// frame per name; a socket gets a block's frames in catalogue order, whatever its subscription order; a subscriber with
// history misses nothing that arrives meanwhile and gets nothing twice.

import { InterestCounts } from '../../block-log/interest-counts.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { WATCHED_WALLETS_MAX } from '../../protocol/feed/protocol.ts'
import type { AnyChannel, AnyEventChannel, BlockEvents, EventsTarget, EventView } from '../channel.ts'
import {
  addToIndex,
  frameDraftsOf,
  type Index,
  type IndexedTopic,
  type Receiver,
  removeFromIndex,
  sendBlock,
  sendDraft,
  type Topic,
  textsBefore,
} from './event-frames.ts'

/** Recent blocks kept for subscribers that wait for their history: 17 seconds on the real exchange. */
export const RECENT_BLOCKS = 256

/**
 * A body whose receivers wait for their history. `since`: height of the last block when the first of them subscribed.
 * The recent blocks supply what the history lacks.
 */
interface WaitingTopic<R> {
  readonly topic: Topic<R>
  readonly since: number
}

/** Receivers that have their history. Items of blocks up to `until` that were in it are not sent again. */
interface StartedTopic<R> extends IndexedTopic<R> {
  readonly key: string
  readonly wasSent: (block: BlockEvents, item: unknown) => boolean
  readonly until: number
}

/** A subscription of one receiver that gets earlier blocks first. A later subscription may have the same body. */
export interface CatchUp<R> extends IndexedTopic<R> {
  readonly key: string
  readonly receiver: R
}

export class EventFanout<R extends Receiver> {
  readonly #topics = new Map<string, Topic<R>>()
  #names = 0
  /** The index of each channel, by view. */
  readonly #views = new Map<EventView<unknown>, Map<AnyEventChannel, Index<R>>>()
  readonly #waiting = new Map<string, WaitingTopic<R>>()
  readonly #catchingUp = new Map<R, Map<string, CatchUp<R>>>()
  readonly #started = new Set<StartedTopic<R>>()
  /** The last blocks without a gap. */
  readonly #recent: BlockEvents[] = []
  /** Fetched data of recent blocks. */
  readonly #recentFetched: BlockEvents[] = []

  /** Wallets whose order statuses are subscribed. */
  readonly orders = new InterestCounts(WATCHED_WALLETS_MAX)
  /** Called when the wallets in `orders` change. */
  onOrdersChange: () => void = () => undefined

  constructor(channels: readonly AnyChannel[]) {
    for (const channel of channels.filter(({ source }) => source === 'events') as AnyEventChannel[])
      for (const view of channel.views) getOrCreate(this.#views, view, () => new Map()).set(channel, new Map())
  }

  /** Number of distinct bodies. */
  get size(): number {
    return this.#topics.size + this.#waiting.size + this.#started.size + this.#catchingUp.size
  }

  /** Number of index names of these bodies. */
  get names(): number {
    return this.#names + this.#waiting.size + this.#started.size + this.#catchingUp.size
  }

  /** `key` identifies the distinct body. A receiver has each key at most once. */
  add(key: string, target: EventsTarget, meta: boolean, receiver: R): void {
    const existing = this.#topics.get(key)
    if (existing) {
      existing.receivers.add(receiver)
      return
    }
    const topic: Topic<R> = { target, meta, receivers: new Set([receiver]) }
    this.#topics.set(key, topic)
    const { channel, body } = target
    const names = channel.names(body)
    this.#names += names.length
    if (channel.needs === 'orders') this.addOrderUsers(names)
    addToIndex(this.#indexOf(target), topic)
  }

  /**
   * Holds back a receiver that needs history first, until `start` is called. Returns true for the first receiver of a
   * body; the caller must then fetch the history. `height`: height of the last block.
   */
  hold(key: string, target: EventsTarget, meta: boolean, receiver: R, height: number): boolean {
    const waiting = this.#waiting.get(key)
    waiting?.topic.receivers.add(receiver)
    // After a dropped link or missing blocks, the recent blocks do not lead to the next one.
    if (this.#recent.at(-1)?.height !== height) this.#recent.length = 0
    if (!waiting) this.#waiting.set(key, { topic: { target, meta, receivers: new Set([receiver]) }, since: height })
    return !waiting
  }

  /** Height that the history must reach; null if nobody waits. */
  historyHeight(key: string): number | null {
    const waiting = this.#waiting.get(key)
    if (!waiting) return null
    const [oldest] = this.#recent
    return oldest ? oldest.height - 1 : waiting.since
  }

  /** Time of the newest recent block; null if there is none. */
  get newestBlockMs(): number | null {
    return this.#recent.at(-1)?.time ?? null
  }

  /** Whether any recent item matches. */
  hasRecent(key: string, matches: (item: unknown) => boolean): boolean {
    const target = this.#waiting.get(key)?.topic.target
    const view = target?.channel.view(target.body)
    return [...this.#recent, ...this.#recentFetched].some((block) => view?.items(block).some(matches))
  }

  /** Returns the JSON of the recent items that precede the first match. The info response may lack them. */
  recentTextsBefore(key: string, ...rows: [matches: (item: unknown) => boolean, areNewer: boolean]): string[] {
    const waiting = this.#waiting.get(key)
    return waiting ? textsBefore(waiting.topic, this.#recent, waiting.since, ...rows) : []
  }

  /**
   * Sends the history and then the recent items that `wasSent` does not report as included. `until`: the history may
   * include items of blocks up to this height that have not arrived yet.
   */
  start(key: string, history: string, wasSent: StartedTopic<R>['wasSent'], until = -1): void {
    const topic = this.#waiting.get(key)?.topic
    if (!topic) return
    for (const receiver of topic.receivers) receiver.send(history)
    const started = { key, topic, index: addToIndex<R>(new Map(), topic), wasSent, until }
    for (const block of [...this.#recent, ...this.#recentFetched]) sendUnseen(started, block)
    this.#waiting.delete(key)
    if (until > (this.#recent.at(-1)?.height ?? -1)) this.#started.add(started)
    else this.#activate(started)
  }

  /** Receivers with their history are served like the others. */
  #activate(startedTopic: StartedTopic<R>): void {
    const { key, topic } = startedTopic
    this.#started.delete(startedTopic)
    for (const receiver of topic.receivers) this.add(key, topic.target, topic.meta, receiver)
  }

  /** Starts a receiver that gets earlier blocks by `sendTo` until `finishCatchUp`. */
  startCatchUp(key: string, target: EventsTarget, meta: boolean, receiver: R): CatchUp<R> {
    const topic: Topic<R> = { target, meta, receivers: new Set([receiver]) }
    const catchUp = { key, receiver, topic, index: addToIndex<R>(new Map(), topic) }
    getOrCreate(this.#catchingUp, receiver, () => new Map()).set(key, catchUp)
    return catchUp
  }

  /** Sends the receiver the matching items of a block. */
  sendTo(catchUp: CatchUp<R>, block: BlockEvents): void {
    if (this.isCatchingUp(catchUp)) sendBlock(catchUp, block)
  }

  /** False once the receiver has been removed or has caught up. */
  isCatchingUp(catchUp: CatchUp<R>): boolean {
    return this.#catchingUp.get(catchUp.receiver)?.get(catchUp.key) === catchUp
  }

  /**
   * True while the receiver waits for history or earlier blocks, or while its history is ahead of the blocks that
   * arrived.
   */
  hasPending(receiver: R): boolean {
    const waiting = [...this.#waiting.values(), ...this.#started]
    return this.#catchingUp.has(receiver) || waiting.some(({ topic }) => topic.receivers.has(receiver))
  }

  /** True if the recent blocks cover this range. */
  coversRange(from: number, to: number): boolean {
    const [oldest] = this.#recent
    return oldest !== undefined && oldest.height <= from && from <= to && this.#recent.at(-1)?.height === to
  }

  /** Sends the recent blocks starting at a height, then serves the subscriber like all others. */
  finishCatchUp(catchUp: CatchUp<R>, from = Number.POSITIVE_INFINITY): void {
    for (const block of this.#recent) if (block.height >= from) this.sendTo(catchUp, block)
    // The sends may have removed the receiver.
    if (!this.isCatchingUp(catchUp)) return
    const { key, receiver, topic } = catchUp
    this.#removeCatchUp(key, receiver)
    this.add(key, topic.target, topic.meta, receiver)
  }

  #removeCatchUp(key: string, receiver: R): void {
    const catchUps = this.#catchingUp.get(receiver)
    catchUps?.delete(key)
    if (catchUps?.size === 0) this.#catchingUp.delete(receiver)
  }

  remove(key: string, receiver: R): void {
    this.#removeCatchUp(key, receiver)
    const waiting = this.#waiting.get(key)?.topic.receivers
    if (waiting?.delete(receiver) && waiting.size === 0) this.#waiting.delete(key)
    for (const startedTopic of this.#started)
      if (
        startedTopic.key === key &&
        startedTopic.topic.receivers.delete(receiver) &&
        startedTopic.topic.receivers.size === 0
      )
        this.#started.delete(startedTopic)
    const topic = this.#topics.get(key)
    topic?.receivers.delete(receiver)
    if (!topic || topic.receivers.size > 0) return
    this.#topics.delete(key)
    const { channel, body } = topic.target
    const names = channel.names(body)
    this.#names -= names.length
    if (channel.needs === 'orders') this.removeOrderUsers(names)
    removeFromIndex(this.#indexOf(topic.target), topic)
  }

  /** Subscribes to order statuses of users. Each call counts, and needs a matching removal. */
  addOrderUsers(users: readonly string[]): void {
    this.orders.add(users)
    this.onOrdersChange()
  }

  removeOrderUsers(users: readonly string[]): void {
    this.orders.remove(users)
    this.onOrdersChange()
  }

  /** Returns each socket with an event subscription once. */
  receivers(): Set<R> {
    return new Set(this.#all().flatMap(({ receivers }) => [...receivers]))
  }

  /** Index names of the bodies that need fetched data of this kind. */
  fetchedNames(kind: AnyEventChannel['fetched']): Set<string> {
    const ofKind = this.#all().filter(({ target }) => target.channel.fetched === kind)
    return new Set(ofKind.flatMap(({ target: { channel, body } }) => channel.names(body)))
  }

  /** Index names of the bodies that use a view. */
  namesOf<Item>(view: EventView<Item>): string[] {
    return [...(this.#views.get(view as EventView<unknown>)?.values() ?? [])].flatMap((index) => [...index.keys()])
  }

  #all(): readonly Topic<R>[] {
    const catchUps = [...this.#catchingUp.values()].flatMap((byKey) => [...byKey.values()])
    const waiting = [...this.#waiting.values(), ...this.#started, ...catchUps]
    return [...this.#topics.values(), ...waiting.map(({ topic }) => topic)]
  }

  /** Sends one block to its subscribers. */
  deliver(block: BlockEvents): void {
    const lastHeight = this.#recent.at(-1)?.height ?? -1
    this.#remember(block)
    // Heights restarted, so nothing of the new chain was sent.
    if (!block.fetched && block.height <= lastHeight)
      for (const startedTopic of this.#started) this.#activate(startedTopic)
    for (const [view, indexes] of this.#views) {
      const indexed = [...indexes].filter(([, index]) => index.size > 0)
      if (indexed.length === 0) continue
      for (const draft of frameDraftsOf(block, view, indexed)) sendDraft(draft, block)
    }
    for (const startedTopic of this.#started) {
      sendUnseen(startedTopic, block)
      if (!block.fetched && block.height >= startedTopic.until) this.#activate(startedTopic)
    }
  }

  /** Sends data fetched after a block, without sending the block again. */
  deliverFetched({ v, t, height, time }: BlockEvents, fetched: NonNullable<BlockEvents['fetched']>): void {
    this.deliver({ v, t, height, time, fills: [], ledger: [], fetched })
  }

  #remember(block: BlockEvents): void {
    // Candles may change with each block, and no history needs them. If stored, they would displace the data that
    // histories need.
    if (block.fetched?.candles) return
    const last = this.#recent.at(-1)
    if (!block.fetched && last && block.height !== last.height + 1) this.#recent.length = 0
    const remembered = block.fetched ? this.#recentFetched : this.#recent
    // Order statuses may be many, and no history needs them.
    const { orders: _, ...stored } = block
    remembered.push(stored)
    if (remembered.length > RECENT_BLOCKS) remembered.shift()
  }

  #indexOf({ channel, body }: EventsTarget): Index<R> {
    // biome-ignore lint/style/noNonNullAssertion: the constructor made an index for every view of every channel
    return this.#views.get(channel.view(body))!.get(channel)!
  }
}

/** Sends the items of a block that the receivers do not have yet. */
function sendUnseen<R extends Receiver>(startedTopic: StartedTopic<R>, block: BlockEvents): void {
  const { channel, body } = startedTopic.topic.target
  const view = channel.view(body)
  sendBlock(startedTopic, block, () => view.items(block).filter((item) => !startedTopic.wasSent(block, item)))
}
