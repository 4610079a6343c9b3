// Who gets what of the events of a block: an engine that asks each channel what it shows and how bodies are found.
// Laws: work per block grows with the bodies that match, never with the sockets or bodies that do not; a text is built
// once per distinct body (of a channel that frames per name, once per name); a block's frames reach a socket view by
// view and channel by channel in the order of the catalogue, whoever subscribed to what before; who is first to be told
// what was before misses nothing that comes meanwhile, and is told nothing twice.

import { InterestCounts } from '../../block-log/interest-counts.ts'
import { entryOf } from '../../core/entry-of.ts'
import { WANTED_MOST } from '../../protocol/feed/protocol.ts'
import type { AnyChannel, AnyEventChannel, EventView, ShownEvents, WantedEvents } from '../channel.ts'
import {
  type Behind,
  type Index,
  parcelsOf,
  putInto,
  type Receiver,
  send,
  type Topic,
  takeOut,
  tell,
  textsBefore,
} from './parcels.ts'

/** Blocks that are remembered for those who are first to be told what was before: 17 seconds of the real exchange. */
export const REMEMBERED = 256

/** A body whose receivers wait to be told what was before: up to `since` at least, blocks bring the rest. */
interface Held<R> {
  readonly topic: Topic<R>
  readonly since: number
}

/** Receivers who were told what was before: items of later blocks that were in it do not come again, up to `until`. */
interface Begun<R> extends Behind<R> {
  readonly key: string
  readonly isTold: (block: ShownEvents, item: unknown) => boolean
  readonly until: number
}

/** A subscription of one receiver who is told of earlier blocks first: of the same body there may be another later. */
export interface Follower<R> extends Behind<R> {
  readonly key: string
  readonly receiver: R
}

export class EventFanout<R extends Receiver> {
  readonly #topics = new Map<string, Topic<R>>()
  #names = 0
  /** The index of every channel that shows a view. */
  readonly #views = new Map<EventView<unknown>, Map<AnyEventChannel, Index<R>>>()
  readonly #held = new Map<string, Held<R>>()
  readonly #behind = new Map<R, Map<string, Follower<R>>>()
  readonly #begun = new Set<Begun<R>>()
  /** The last blocks, without a hole between them. */
  readonly #recent: ShownEvents[] = []
  /** What was learned later of blocks. */
  readonly #late: ShownEvents[] = []

  /** Wallets whose order statuses bodies want. */
  readonly orders = new InterestCounts(WANTED_MOST)
  /** Order statuses of other wallets are wanted. */
  onOrdersChange: () => void = () => undefined

  constructor(channels: readonly AnyChannel[]) {
    for (const channel of channels.filter(({ source }) => source === 'events') as AnyEventChannel[])
      for (const view of channel.views) entryOf(this.#views, view, () => new Map()).set(channel, new Map())
  }

  /** Distinct bodies at present. */
  get size(): number {
    return this.#topics.size + this.#held.size + this.#begun.size + this.#behind.size
  }

  /** That these bodies are found by. */
  get names(): number {
    return this.#names + this.#held.size + this.#begun.size + this.#behind.size
  }

  /** `key` names the distinct body; a receiver stands under one key at most once. */
  add(key: string, wanted: WantedEvents, meta: boolean, receiver: R): void {
    const known = this.#topics.get(key)
    if (known) {
      known.receivers.add(receiver)
      return
    }
    const topic: Topic<R> = { wanted, meta, receivers: new Set([receiver]) }
    this.#topics.set(key, topic)
    const { channel, body } = wanted
    const names = channel.names(body)
    this.#names += names.length
    if (channel.needs === 'orders') this.wantOrders(names)
    putInto(this.#indexOf(wanted), topic)
  }

  /**
   * Takes a receiver that is first to be told what was before: blocks wait for it until `begin`. True for the first of a
   * body, which has to see to that. `height`: of the last block that came.
   */
  hold(key: string, wanted: WantedEvents, meta: boolean, receiver: R, height: number): boolean {
    const known = this.#held.get(key)
    known?.topic.receivers.add(receiver)
    // A link that was let go of, or blocks that never came: what is remembered does not lead to the next block.
    if (this.#recent.at(-1)?.height !== height) this.#recent.length = 0
    if (!known) this.#held.set(key, { topic: { wanted, meta, receivers: new Set([receiver]) }, since: height })
    return !known
  }

  /** What is told to those who wait must reach up to this height; null where nobody waits. */
  heldSince(key: string): number | null {
    const held = this.#held.get(key)
    if (!held) return null
    const [oldest] = this.#recent
    return oldest ? oldest.height - 1 : held.since
  }

  /** Time of the newest block that is remembered; null where none is. */
  get rememberedMs(): number | null {
    return this.#recent.at(-1)?.time ?? null
  }

  /** Whether one of the items that are remembered is such a one. */
  remembers(key: string, isOne: (item: unknown) => boolean): boolean {
    const wanted = this.#held.get(key)?.topic.wanted
    const view = wanted?.channel.view(wanted.body)
    return [...this.#recent, ...this.#late].some((block) => view?.items(block).some(isOne))
  }

  /** Texts of what came since they wait and is older than the first item that `isOne`: an answer may have no room for it. */
  heldBefore(key: string, ...rows: [isOne: (item: unknown) => boolean, areNewer: boolean]): string[] {
    const held = this.#held.get(key)
    return held ? textsBefore(held.topic, this.#recent, held.since, ...rows) : []
  }

  /**
   * Tells those who wait what was before, and after it what came meanwhile but what `isTold` says to be in it. `until`: it
   * may hold something of blocks up to this height, which are still to come.
   */
  begin(key: string, first: string, isTold: Begun<R>['isTold'], until = -1): void {
    const topic = this.#held.get(key)?.topic
    if (!topic) return
    for (const receiver of topic.receivers) receiver.send(first)
    const begun = { key, topic, index: putInto<R>(new Map(), topic), isTold, until }
    for (const block of [...this.#recent, ...this.#late]) tellRest(begun, block)
    this.#held.delete(key)
    if (until > (this.#recent.at(-1)?.height ?? -1)) this.#begun.add(begun)
    else this.#join(begun)
  }

  /** Who has been told all that was before is served with the others. */
  #join(begun: Begun<R>): void {
    const { key, topic } = begun
    this.#begun.delete(begun)
    for (const receiver of topic.receivers) this.add(key, topic.wanted, topic.meta, receiver)
  }

  /** Takes a receiver that is first told of earlier blocks: by `tell`, until `catchUp`. */
  fallBehind(key: string, wanted: WantedEvents, meta: boolean, receiver: R): Follower<R> {
    const topic: Topic<R> = { wanted, meta, receivers: new Set([receiver]) }
    const follower = { key, receiver, topic, index: putInto<R>(new Map(), topic) }
    entryOf(this.#behind, receiver, () => new Map()).set(key, follower)
    return follower
  }

  /** Tells it what a block has for it. */
  tell(follower: Follower<R>, block: ShownEvents): void {
    if (this.isBehind(follower)) tell(follower, block)
  }

  /** False once it was removed, or has caught up. */
  isBehind(follower: Follower<R>): boolean {
    return this.#behind.get(follower.receiver)?.get(follower.key) === follower
  }

  /** True where it waits for something that was before, or was told more than the blocks that have come. */
  owes(receiver: R): boolean {
    const waiting = [...this.#held.values(), ...this.#begun]
    return this.#behind.has(receiver) || waiting.some(({ topic }) => topic.receivers.has(receiver))
  }

  /** True where the remembered blocks lead from one height to another. */
  leads(from: number, to: number): boolean {
    const [oldest] = this.#recent
    return oldest !== undefined && oldest.height <= from && from <= to && this.#recent.at(-1)?.height === to
  }

  /** From now on it is told of each block that comes; first of the remembered ones from a height on that leads there. */
  catchUp(follower: Follower<R>, from = Number.POSITIVE_INFINITY): void {
    for (const block of this.#recent) if (block.height >= from) this.tell(follower, block)
    // It may have ended by what it was sent.
    if (!this.isBehind(follower)) return
    const { key, receiver, topic } = follower
    this.#forget(key, receiver)
    this.add(key, topic.wanted, topic.meta, receiver)
  }

  #forget(key: string, receiver: R): void {
    const own = this.#behind.get(receiver)
    own?.delete(key)
    if (own?.size === 0) this.#behind.delete(receiver)
  }

  remove(key: string, receiver: R): void {
    this.#forget(key, receiver)
    const held = this.#held.get(key)?.topic.receivers
    if (held?.delete(receiver) && held.size === 0) this.#held.delete(key)
    for (const begun of this.#begun)
      if (begun.key === key && begun.topic.receivers.delete(receiver) && begun.topic.receivers.size === 0)
        this.#begun.delete(begun)
    const topic = this.#topics.get(key)
    topic?.receivers.delete(receiver)
    if (!topic || topic.receivers.size > 0) return
    this.#topics.delete(key)
    const { channel, body } = topic.wanted
    const names = channel.names(body)
    this.#names -= names.length
    if (channel.needs === 'orders') this.dropOrders(names)
    takeOut(this.#indexOf(topic.wanted), topic)
  }

  /** Blocks are to hold order statuses of these users, until they are dropped as often as they were wanted. */
  wantOrders(users: readonly string[]): void {
    this.orders.add(users)
    this.onOrdersChange()
  }

  dropOrders(users: readonly string[]): void {
    this.orders.remove(users)
    this.onOrdersChange()
  }

  /** Every socket with an event subscription, once. */
  receivers(): Set<R> {
    return new Set(this.#all().flatMap(({ receivers }) => [...receivers]))
  }

  /** Names under which somebody wants what no block holds. */
  lateNames(kind: AnyEventChannel['late']): Set<string> {
    const ofKind = this.#all().filter(({ wanted }) => wanted.channel.late === kind)
    return new Set(ofKind.flatMap(({ wanted: { channel, body } }) => channel.names(body)))
  }

  /** Names under which somebody wants a view. */
  namesOf<Item>(view: EventView<Item>): string[] {
    return [...(this.#views.get(view as EventView<unknown>)?.values() ?? [])].flatMap((index) => [...index.keys()])
  }

  #all(): readonly Topic<R>[] {
    const behind = [...this.#behind.values()].flatMap((own) => [...own.values()])
    const waiting = [...this.#held.values(), ...this.#begun, ...behind]
    return [...this.#topics.values(), ...waiting.map(({ topic }) => topic)]
  }

  /** Sends one block to whom it concerns. */
  deliver(block: ShownEvents): void {
    const before = this.#recent.at(-1)?.height ?? -1
    this.#remember(block)
    // Heights begin anew: nothing of them was told.
    if (!block.late && block.height <= before) for (const begun of this.#begun) this.#join(begun)
    for (const [view, indexes] of this.#views) {
      const wanted = [...indexes].filter(([, index]) => index.size > 0)
      if (wanted.length === 0) continue
      for (const parcel of parcelsOf(block, view, wanted)) send(parcel, block)
    }
    for (const begun of this.#begun) {
      tellRest(begun, block)
      if (!block.late && block.height >= begun.until) this.#join(begun)
    }
  }

  /** Sends what was learned of a block after it was shown: nothing else of it goes out twice. */
  deliverLate({ v, t, height, time }: ShownEvents, late: NonNullable<ShownEvents['late']>): void {
    this.deliver({ v, t, height, time, fills: [], ledger: [], late })
  }

  #remember(block: ShownEvents): void {
    // Each block may change candles, of which no first frame tells: they would drive out what one does.
    if (block.late?.candles) return
    const last = this.#recent.at(-1)
    if (!block.late && last && block.height !== last.height + 1) this.#recent.length = 0
    const remembered = block.late ? this.#late : this.#recent
    // Order statuses, which may be many, are nothing that a first frame leads to.
    const { orders: _, ...kept } = block
    remembered.push(kept)
    if (remembered.length > REMEMBERED) remembered.shift()
  }

  #indexOf({ channel, body }: WantedEvents): Index<R> {
    // biome-ignore lint/style/noNonNullAssertion: the constructor made an index for every view of every channel
    return this.#views.get(channel.view(body))!.get(channel)!
  }
}

/** Sends what of a block its receivers were not told before. */
function tellRest<R extends Receiver>(begun: Begun<R>, block: ShownEvents): void {
  const { channel, body } = begun.topic.wanted
  const view = channel.view(body)
  tell(begun, block, () => view.items(block).filter((item) => !begun.isTold(block, item)))
}
