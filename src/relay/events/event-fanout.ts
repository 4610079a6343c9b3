// Who gets what of the events of a block: an engine that asks each channel what it shows and how bodies are found.
// Laws: work per block grows with the bodies that match, never with the sockets or bodies that do not; a text is built
// once per distinct body (of a channel that frames per name, once per name); a block's frames reach a socket view by
// view and channel by channel in the order of the catalogue, whoever subscribed to what before; who is first to be told
// what was before misses nothing that comes meanwhile, and is told nothing twice.

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

/** Blocks that are remembered for those who are first to be told what was before: 17 seconds of the real exchange. */
export const RECENT_BLOCKS = 256

/** A body whose receivers wait to be told what was before: up to `since` at least, blocks bring the rest. */
interface WaitingTopic<R> {
  readonly topic: Topic<R>
  readonly since: number
}

/** Receivers who were told what was before: items of later blocks that were in it do not come again, up to `until`. */
interface StartedTopic<R> extends IndexedTopic<R> {
  readonly key: string
  readonly wasSent: (block: BlockEvents, item: unknown) => boolean
  readonly until: number
}

/** A subscription of one receiver who is told of earlier blocks first: of the same body there may be another later. */
export interface CatchUp<R> extends IndexedTopic<R> {
  readonly key: string
  readonly receiver: R
}

export class EventFanout<R extends Receiver> {
  readonly #topics = new Map<string, Topic<R>>()
  #names = 0
  /** The index of every channel that shows a view. */
  readonly #views = new Map<EventView<unknown>, Map<AnyEventChannel, Index<R>>>()
  readonly #waiting = new Map<string, WaitingTopic<R>>()
  readonly #catchingUp = new Map<R, Map<string, CatchUp<R>>>()
  readonly #started = new Set<StartedTopic<R>>()
  /** The last blocks, without a hole between them. */
  readonly #recent: BlockEvents[] = []
  /** What was learned later of blocks. */
  readonly #recentFetched: BlockEvents[] = []

  /** Wallets whose order statuses bodies want. */
  readonly orders = new InterestCounts(WATCHED_WALLETS_MAX)
  /** Order statuses of other wallets are wanted. */
  onOrdersChange: () => void = () => undefined

  constructor(channels: readonly AnyChannel[]) {
    for (const channel of channels.filter(({ source }) => source === 'events') as AnyEventChannel[])
      for (const view of channel.views) getOrCreate(this.#views, view, () => new Map()).set(channel, new Map())
  }

  /** Distinct bodies at present. */
  get size(): number {
    return this.#topics.size + this.#waiting.size + this.#started.size + this.#catchingUp.size
  }

  /** That these bodies are found by. */
  get names(): number {
    return this.#names + this.#waiting.size + this.#started.size + this.#catchingUp.size
  }

  /** `key` names the distinct body; a receiver stands under one key at most once. */
  add(key: string, target: EventsTarget, meta: boolean, receiver: R): void {
    const known = this.#topics.get(key)
    if (known) {
      known.receivers.add(receiver)
      return
    }
    const topic: Topic<R> = { target: target, meta, receivers: new Set([receiver]) }
    this.#topics.set(key, topic)
    const { channel, body } = target
    const names = channel.names(body)
    this.#names += names.length
    if (channel.needs === 'orders') this.addOrderUsers(names)
    addToIndex(this.#indexOf(target), topic)
  }

  /**
   * Takes a receiver that is first to be told what was before: blocks wait for it until `begin`. True for the first of a
   * body, which has to see to that. `height`: of the last block that came.
   */
  hold(key: string, target: EventsTarget, meta: boolean, receiver: R, height: number): boolean {
    const known = this.#waiting.get(key)
    known?.topic.receivers.add(receiver)
    // A link that was let go of, or blocks that never came: what is remembered does not lead to the next block.
    if (this.#recent.at(-1)?.height !== height) this.#recent.length = 0
    if (!known)
      this.#waiting.set(key, { topic: { target: target, meta, receivers: new Set([receiver]) }, since: height })
    return !known
  }

  /** What is told to those who wait must reach up to this height; null where nobody waits. */
  historyHeight(key: string): number | null {
    const held = this.#waiting.get(key)
    if (!held) return null
    const [oldest] = this.#recent
    return oldest ? oldest.height - 1 : held.since
  }

  /** Time of the newest block that is remembered; null where none is. */
  get newestBlockMs(): number | null {
    return this.#recent.at(-1)?.time ?? null
  }

  /** Whether one of the items that are remembered is such a one. */
  hasRecent(key: string, isOne: (item: unknown) => boolean): boolean {
    const target = this.#waiting.get(key)?.topic.target
    const view = target?.channel.view(target.body)
    return [...this.#recent, ...this.#recentFetched].some((block) => view?.items(block).some(isOne))
  }

  /** Texts of what came since they wait and is older than the first item that `isOne`: an answer may have no room for it. */
  recentTextsBefore(key: string, ...rows: [isOne: (item: unknown) => boolean, areNewer: boolean]): string[] {
    const held = this.#waiting.get(key)
    return held ? textsBefore(held.topic, this.#recent, held.since, ...rows) : []
  }

  /**
   * Tells those who wait what was before, and after it what came meanwhile but what `isTold` says to be in it. `until`: it
   * may hold something of blocks up to this height, which are still to come.
   */
  start(key: string, first: string, wasSent: StartedTopic<R>['wasSent'], until = -1): void {
    const topic = this.#waiting.get(key)?.topic
    if (!topic) return
    for (const receiver of topic.receivers) receiver.send(first)
    const started = { key, topic, index: addToIndex<R>(new Map(), topic), wasSent, until }
    for (const block of [...this.#recent, ...this.#recentFetched]) sendUnseen(started, block)
    this.#waiting.delete(key)
    if (until > (this.#recent.at(-1)?.height ?? -1)) this.#started.add(started)
    else this.#activate(started)
  }

  /** Who has been told all that was before is served with the others. */
  #activate(begun: StartedTopic<R>): void {
    const { key, topic } = begun
    this.#started.delete(begun)
    for (const receiver of topic.receivers) this.add(key, topic.target, topic.meta, receiver)
  }

  /** Takes a receiver that is first told of earlier blocks: by `tell`, until `catchUp`. */
  startCatchUp(key: string, target: EventsTarget, meta: boolean, receiver: R): CatchUp<R> {
    const topic: Topic<R> = { target: target, meta, receivers: new Set([receiver]) }
    const follower = { key, receiver, topic, index: addToIndex<R>(new Map(), topic) }
    getOrCreate(this.#catchingUp, receiver, () => new Map()).set(key, follower)
    return follower
  }

  /** Tells it what a block has for it. */
  sendTo(follower: CatchUp<R>, block: BlockEvents): void {
    if (this.isCatchingUp(follower)) sendBlock(follower, block)
  }

  /** False once it was removed, or has caught up. */
  isCatchingUp(follower: CatchUp<R>): boolean {
    return this.#catchingUp.get(follower.receiver)?.get(follower.key) === follower
  }

  /** True where it waits for something that was before, or was told more than the blocks that have come. */
  hasPending(receiver: R): boolean {
    const waiting = [...this.#waiting.values(), ...this.#started]
    return this.#catchingUp.has(receiver) || waiting.some(({ topic }) => topic.receivers.has(receiver))
  }

  /** True where the remembered blocks lead from one height to another. */
  coversRange(from: number, to: number): boolean {
    const [oldest] = this.#recent
    return oldest !== undefined && oldest.height <= from && from <= to && this.#recent.at(-1)?.height === to
  }

  /** From now on it is told of each block that comes; first of the remembered ones from a height on that leads there. */
  finishCatchUp(follower: CatchUp<R>, from = Number.POSITIVE_INFINITY): void {
    for (const block of this.#recent) if (block.height >= from) this.sendTo(follower, block)
    // It may have ended by what it was sent.
    if (!this.isCatchingUp(follower)) return
    const { key, receiver, topic } = follower
    this.#removeCatchUp(key, receiver)
    this.add(key, topic.target, topic.meta, receiver)
  }

  #removeCatchUp(key: string, receiver: R): void {
    const own = this.#catchingUp.get(receiver)
    own?.delete(key)
    if (own?.size === 0) this.#catchingUp.delete(receiver)
  }

  remove(key: string, receiver: R): void {
    this.#removeCatchUp(key, receiver)
    const held = this.#waiting.get(key)?.topic.receivers
    if (held?.delete(receiver) && held.size === 0) this.#waiting.delete(key)
    for (const begun of this.#started)
      if (begun.key === key && begun.topic.receivers.delete(receiver) && begun.topic.receivers.size === 0)
        this.#started.delete(begun)
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

  /** Blocks are to hold order statuses of these users, until they are dropped as often as they were wanted. */
  addOrderUsers(users: readonly string[]): void {
    this.orders.add(users)
    this.onOrdersChange()
  }

  removeOrderUsers(users: readonly string[]): void {
    this.orders.remove(users)
    this.onOrdersChange()
  }

  /** Every socket with an event subscription, once. */
  receivers(): Set<R> {
    return new Set(this.#all().flatMap(({ receivers }) => [...receivers]))
  }

  /** Names under which somebody wants what no block holds. */
  fetchedNames(kind: AnyEventChannel['fetched']): Set<string> {
    const ofKind = this.#all().filter(({ target }) => target.channel.fetched === kind)
    return new Set(ofKind.flatMap(({ target: { channel, body } }) => channel.names(body)))
  }

  /** Names under which somebody wants a view. */
  namesOf<Item>(view: EventView<Item>): string[] {
    return [...(this.#views.get(view as EventView<unknown>)?.values() ?? [])].flatMap((index) => [...index.keys()])
  }

  #all(): readonly Topic<R>[] {
    const behind = [...this.#catchingUp.values()].flatMap((own) => [...own.values()])
    const waiting = [...this.#waiting.values(), ...this.#started, ...behind]
    return [...this.#topics.values(), ...waiting.map(({ topic }) => topic)]
  }

  /** Sends one block to whom it concerns. */
  deliver(block: BlockEvents): void {
    const before = this.#recent.at(-1)?.height ?? -1
    this.#remember(block)
    // Heights begin anew: nothing of them was told.
    if (!block.fetched && block.height <= before) for (const begun of this.#started) this.#activate(begun)
    for (const [view, indexes] of this.#views) {
      const target = [...indexes].filter(([, index]) => index.size > 0)
      if (target.length === 0) continue
      for (const parcel of frameDraftsOf(block, view, target)) sendDraft(parcel, block)
    }
    for (const begun of this.#started) {
      sendUnseen(begun, block)
      if (!block.fetched && block.height >= begun.until) this.#activate(begun)
    }
  }

  /** Sends what was learned of a block after it was shown: nothing else of it goes out twice. */
  deliverFetched({ v, t, height, time }: BlockEvents, late: NonNullable<BlockEvents['fetched']>): void {
    this.deliver({ v, t, height, time, fills: [], ledger: [], fetched: late })
  }

  #remember(block: BlockEvents): void {
    // Each block may change candles, of which no first frame tells: they would drive out what one does.
    if (block.fetched?.candles) return
    const last = this.#recent.at(-1)
    if (!block.fetched && last && block.height !== last.height + 1) this.#recent.length = 0
    const remembered = block.fetched ? this.#recentFetched : this.#recent
    // Order statuses, which may be many, are nothing that a first frame leads to.
    const { orders: _, ...kept } = block
    remembered.push(kept)
    if (remembered.length > RECENT_BLOCKS) remembered.shift()
  }

  #indexOf({ channel, body }: EventsTarget): Index<R> {
    // biome-ignore lint/style/noNonNullAssertion: the constructor made an index for every view of every channel
    return this.#views.get(channel.view(body))!.get(channel)!
  }
}

/** Sends what of a block its receivers were not told before. */
function sendUnseen<R extends Receiver>(begun: StartedTopic<R>, block: BlockEvents): void {
  const { channel, body } = begun.topic.target
  const view = channel.view(body)
  sendBlock(begun, block, () => view.items(block).filter((item) => !begun.wasSent(block, item)))
}
