// Who gets which book changes: distinct bodies (topics), grouped by the hubs that they wait for.
// Law: per block and distinct body one text; a fragment reaches exactly the bodies that have its coin.

import type { Coin, MarketType } from '../../core/coin.ts'
import { marketTypeOf, shardOf } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { CHECKSUM } from '../../order-books/view-interests.ts'
import type { HubFrameToRelay } from '../../protocol/hub/hub-link.ts'
import type { BookBody } from '../body-fields.ts'
import type { BlockTexts, BookBatch, BooksTarget, CoinUpdate } from '../channel.ts'
import type { Receiver } from '../events/event-frames.ts'
import { BlockJoin } from './block-join.ts'
import type { Joiner } from './joiner.ts'
import { ViewFanout, viewInterests } from './view-fanout.ts'

/** A socket of a book body, told when its books must begin again. */
export interface BookReceiver extends Receiver {
  breakBooks(why: 'continuity'): void
}

interface Topic<R> {
  readonly key: string
  readonly target: BooksTarget
  readonly types: ReadonlySet<MarketType>
  /** Served by the shared frames. */
  readonly shared: Set<R>
  /** Served alone until settled. */
  readonly joining: Map<R, Joiner>
  /** Entries of the emission at work. */
  pendingUpdates: CoinUpdate[]
  group: Group<R>
}

interface Group<R> {
  readonly hubs: readonly number[]
  readonly join: BlockJoin
  readonly byCoin: Map<string, Set<Topic<R>>>
  readonly wildcards: Set<Topic<R>>
}

/** Hubs that keep the coins of a body, ascending. */
export function hubsOf({ coins }: BookBody, shards: number): number[] {
  if (coins === null) return Array.from({ length: shards }, (_, hub) => hub)
  return [...new Set(coins.map((coin) => shardOf(coin, shards)))].sort((a, b) => a - b)
}

/** The checksums that a body wants of a hub. */
export function checksumInterests(body: BookBody, hub: number, shards: number): string[] {
  return body.checksum ? viewInterests({ ...body, view: CHECKSUM }, hub, shards) : []
}

/** What the fan-out asks of whoever feeds it, and tells. */
export interface BookFeed {
  /** Highest height that a hub's present link has brought; -1 where it begins with whatever comes. */
  heightOf(hub: number): number
  /** A block of this time, Unix ms, goes out. */
  onSent(time: number): void
}

export class BookFanout<R extends BookReceiver> {
  readonly views: ViewFanout<R>
  readonly #shards: number
  readonly #feed: BookFeed
  readonly #topics = new Map<string, Topic<R>>()
  readonly #groups = new Map<string, Group<R>>()
  /** Of coins whose Snapshots are on their way, what their hubs have reported since they were asked for. */
  readonly #recent = new Map<string, BookBatch[]>()

  constructor(shards: number, feed: BookFeed) {
    this.#shards = shards
    this.#feed = feed
    this.views = new ViewFanout(shards)
  }

  get size(): number {
    return this.#topics.size + this.views.size
  }

  /** With a joiner the receiver is served alone, without one from the next block's shared frame. */
  add(key: string, target: BooksTarget, receiver: R, joiner?: Joiner): void {
    let topic = this.#topics.get(key)
    if (!topic) {
      const types = new Set(target.body.types)
      const group = this.#groupOf(target.body)
      topic = { key, target: target, types, shared: new Set(), joining: new Map(), pendingUpdates: [], group }
      this.#topics.set(key, topic)
      this.#addToGroup(topic)
    }
    if (joiner) topic.joining.set(receiver, joiner)
    else topic.shared.add(receiver)
  }

  remove(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    if (!topic) return
    topic.shared.delete(receiver)
    topic.joining.get(receiver)?.abandon()
    topic.joining.delete(receiver)
    if (topic.shared.size + topic.joining.size > 0) return
    this.#topics.delete(key)
    this.#removeFromGroup(topic)
  }

  /** The joiner of a receiver that is still served alone. */
  joinerOf(key: string, receiver: R): Joiner | undefined {
    return this.#topics.get(key)?.joining.get(receiver)
  }

  /** To be called before the Snapshots of these coins are asked for, and `unwatch` when they have all been handed out. */
  startRecording(coins: readonly string[]): void {
    for (const coin of coins) this.#recent.set(coin, [])
  }

  stopRecording(coins: readonly string[]): void {
    for (const coin of coins) this.#recent.delete(coin)
  }

  /**
   * Sends a coin's Snapshot to a receiver that is served alone and waits for it, and what has gone out above it. The
   * receiver was there when the Snapshot, `text`, was asked for.
   */
  deliverSnapshot(
    key: string,
    receiver: R,
    snapshot: { readonly coin: Coin; readonly height: number },
    text: string,
  ): void {
    const topic = this.#topics.get(key)
    const joiner = topic?.joining.get(receiver)
    if (!topic || !joiner) return
    receiver.send(text)
    joiner.onSnapshot(snapshot)
    const gone = topic.group.join.clearedHeight(shardOf(snapshot.coin, this.#shards))
    for (const block of this.#recent.get(snapshot.coin) ?? [])
      if (block.height <= gone) sendTexts(receiver, joiner.push(block))
  }

  /** Takes one frame of a hub and sends whatever is complete with it. */
  push(hub: number, frame: HubFrameToRelay, nowMs: number): void {
    if (this.views.push(frame)) this.#feed.onSent(frame.time)
    for (const entry of this.#recent.size > 0 ? frame.coins : [])
      this.#recent.get(entry.coin)?.push({ ...frame, updates: [entry] })
    for (const group of this.#groups.values()) this.#deliver(group, group.join.push(hub, frame, nowMs))
  }

  /** Lets the others go on where a hub is late. */
  tick(nowMs: number): void {
    for (const group of this.#groups.values()) this.#deliver(group, group.join.tick(nowMs))
  }

  /** When tick may have something to give, null while nothing waits. */
  dueMs(): number | null {
    let due: number | null = null
    for (const { join } of this.#groups.values()) {
      const next = join.dueMs()
      if (next !== null) due = due === null ? next : Math.min(due, next)
    }
    return due
  }

  /** Heights of a hub begin anew (the operator reset the feed): what waits of its old chain, or for it, is dropped. */
  restart(hub: number): void {
    this.views.restart(hub)
    for (const [coin, blocks] of this.#recent) if (shardOf(coin, this.#shards) === hub) blocks.length = 0
    for (const [name, { hubs }] of this.#groups) if (hubs.includes(hub)) this.#groups.delete(name)
    for (const topic of this.#topics.values()) {
      if (!topic.group.hubs.includes(hub)) continue
      topic.group = this.#groupOf(topic.target.body)
      this.#addToGroup(topic)
    }
  }

  /** True while a body has coins of this hub. */
  needsHub(hub: number): boolean {
    for (const group of this.#groups.values()) if (group.hubs.includes(hub)) return true
    return this.views.interestsOf(hub).size > 0
  }

  /** What must be in force at a hub for the present bodies. */
  interestOf(hub: number): { coins: Set<string>; types: Set<MarketType>; views: Set<string> } {
    const coins = new Set<string>()
    const types = new Set<MarketType>()
    const views = this.views.interestsOf(hub)
    for (const { target } of this.#topics.values()) {
      for (const type of target.body.types) types.add(type)
      for (const coin of target.body.coins ?? []) if (shardOf(coin, this.#shards) === hub) coins.add(coin)
      for (const want of checksumInterests(target.body, hub, this.#shards)) views.add(want)
    }
    return { coins, types, views }
  }

  /** Receivers with coins of this hub on channels that seed them once, each once: those whose books a lost link breaks. */
  seededReceiversOf(hub: number): Set<R> {
    const receivers = new Set<R>()
    for (const { target, shared, joining } of this.#topics.values()) {
      if (!target.channel.snapshot || !hubsOf(target.body, this.#shards).includes(hub)) continue
      for (const receiver of [...shared, ...joining.keys()]) receivers.add(receiver)
    }
    return receivers
  }

  #deliver(group: Group<R>, emissions: readonly BookBatch[]): void {
    for (const emission of emissions) {
      deliverBatch(group, emission)
      this.#feed.onSent(emission.time)
    }
  }

  #groupOf(body: BookBody): Group<R> {
    const hubs = hubsOf(body, this.#shards)
    return getOrCreate(this.#groups, hubs.join(), () => {
      const join = new BlockJoin(new Map(hubs.map((hub) => [hub, this.#feed.heightOf(hub)])))
      return { hubs, join, byCoin: new Map(), wildcards: new Set() }
    })
  }

  #addToGroup(topic: Topic<R>): void {
    const { group } = topic
    const { coins } = topic.target.body
    if (coins === null) group.wildcards.add(topic)
    for (const coin of coins ?? []) getOrCreate(group.byCoin, coin, () => new Set()).add(topic)
  }

  #removeFromGroup(topic: Topic<R>): void {
    const { group } = topic
    group.wildcards.delete(topic)
    for (const coin of topic.target.body.coins ?? []) {
      const topics = group.byCoin.get(coin)
      topics?.delete(topic)
      if (topics?.size === 0) group.byCoin.delete(coin)
    }
    if (group.wildcards.size + group.byCoin.size === 0) this.#groups.delete(group.hubs.join())
  }
}

function deliverBatch<R extends BookReceiver>(group: Group<R>, emission: BookBatch): void {
  const touched: Topic<R>[] = []
  const take = (topic: Topic<R>, entry: CoinUpdate) => {
    if (topic.pendingUpdates.length === 0) touched.push(topic)
    topic.pendingUpdates.push(entry)
  }
  for (const entry of emission.updates) {
    for (const topic of group.byCoin.get(entry.coin) ?? []) take(topic, entry)
    if (group.wildcards.size === 0) continue
    const type = marketTypeOf(entry.coin)
    for (const topic of group.wildcards) if (topic.types.has(type)) take(topic, entry)
  }
  for (const topic of touched) {
    const block = { ...emission, updates: topic.pendingUpdates }
    topic.pendingUpdates = []
    sendBatch(topic, block, group.join)
  }
}

function sendBatch<R extends BookReceiver>(topic: Topic<R>, block: BookBatch, join: BlockJoin): void {
  if (topic.shared.size > 0) {
    const texts = topic.target.channel.encode(block, topic.target.body.checksum)
    for (const receiver of topic.shared) sendTexts(receiver, texts)
  }
  for (const [receiver, joiner] of topic.joining) {
    sendTexts(receiver, joiner.push(block))
    if (joiner.isSettled((hub) => join.clearedHeight(hub)) && topic.joining.delete(receiver)) topic.shared.add(receiver)
  }
}

function sendTexts(receiver: BookReceiver, { texts, isBroken }: BlockTexts): void {
  if (isBroken) receiver.breakBooks('continuity')
  else for (const text of texts) receiver.send(text)
}
