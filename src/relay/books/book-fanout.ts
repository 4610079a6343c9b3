// Sends book changes to their subscribers: distinct bodies (topics), grouped by the hubs they depend on. Invariant: one
// frame per block per distinct body; a fragment reaches exactly the bodies with its coin.

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

/** A socket with a book body. `breakBooks` is called when its books must restart. */
export interface BookReceiver extends Receiver {
  breakBooks(why: 'continuity'): void
}

interface Topic<R> {
  readonly key: string
  readonly target: BooksTarget
  readonly types: ReadonlySet<MarketType>
  /** Receivers of the shared frames. */
  readonly shared: Set<R>
  /** Receivers that are served individually until they can use the shared frames. */
  readonly joining: Map<R, Joiner>
  /** Updates of the batch being delivered. */
  pendingUpdates: CoinUpdate[]
  group: Group<R>
}

interface Group<R> {
  readonly hubs: readonly number[]
  readonly join: BlockJoin
  readonly byCoin: Map<string, Set<Topic<R>>>
  readonly wildcards: Set<Topic<R>>
}

/** Hubs that store the coins of a body, ascending. */
export function hubsOf({ coins }: BookBody, shards: number): number[] {
  if (coins === null) return Array.from({ length: shards }, (_, hub) => hub)
  return [...new Set(coins.map((coin) => shardOf(coin, shards)))].sort((a, b) => a - b)
}

/** The checksum interests of a body at a hub. */
export function checksumInterests(body: BookBody, hub: number, shards: number): string[] {
  return body.checksum ? viewInterests({ ...body, view: CHECKSUM }, hub, shards) : []
}

/** Source of the hubs' heights, and observer of sent blocks. */
export interface BookFeed {
  /** Highest height of a hub's current link; -1 if its first frame may have any height. */
  heightOf(hub: number): number
  /** A block of this time (Unix ms) was sent. */
  onSent(time: number): void
}

export class BookFanout<R extends BookReceiver> {
  readonly views: ViewFanout<R>
  readonly #shards: number
  readonly #feed: BookFeed
  readonly #topics = new Map<string, Topic<R>>()
  readonly #groups = new Map<string, Group<R>>()
  /** Batches received since the snapshots in flight were requested, by coin. */
  readonly #recent = new Map<string, BookBatch[]>()

  constructor(shards: number, feed: BookFeed) {
    this.#shards = shards
    this.#feed = feed
    this.views = new ViewFanout(shards)
  }

  get size(): number {
    return this.#topics.size + this.views.size
  }

  /**
   * A receiver with a joiner is served individually. Any other receiver gets the shared frames, starting with the next
   * block.
   */
  add(key: string, target: BooksTarget, receiver: R, joiner?: Joiner): void {
    let topic = this.#topics.get(key)
    if (!topic) {
      const types = new Set(target.body.types)
      const group = this.#groupOf(target.body)
      topic = { key, target, types, shared: new Set(), joining: new Map(), pendingUpdates: [], group }
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

  /** The joiner of a receiver that is still served individually. */
  joinerOf(key: string, receiver: R): Joiner | undefined {
    return this.#topics.get(key)?.joining.get(receiver)
  }

  /** Call it before requesting the snapshots of these coins, and `stopRecording` when all have been sent. */
  startRecording(coins: readonly string[]): void {
    for (const coin of coins) this.#recent.set(coin, [])
  }

  stopRecording(coins: readonly string[]): void {
    for (const coin of coins) this.#recent.delete(coin)
  }

  /**
   * Sends a coin's snapshot to a waiting receiver, then the batches above it. The receiver must have been added before
   * the snapshot `text` was requested.
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
    const cleared = topic.group.join.clearedHeight(shardOf(snapshot.coin, this.#shards))
    for (const block of this.#recent.get(snapshot.coin) ?? [])
      if (block.height <= cleared) sendTexts(receiver, joiner.push(block))
  }

  /** Adds a hub's frame and sends the blocks that it completes. */
  push(hub: number, frame: HubFrameToRelay, nowMs: number): void {
    if (this.views.push(frame)) this.#feed.onSent(frame.time)
    for (const entry of this.#recent.size > 0 ? frame.coins : [])
      this.#recent.get(entry.coin)?.push({ ...frame, updates: [entry] })
    for (const group of this.#groups.values()) this.#deliver(group, group.join.push(hub, frame, nowMs))
  }

  /** Continues without late hubs. */
  tick(nowMs: number): void {
    for (const group of this.#groups.values()) this.#deliver(group, group.join.tick(nowMs))
  }

  /** Time from which `tick` may send something; null while no frame waits. */
  dueMs(): number | null {
    let due: number | null = null
    for (const { join } of this.#groups.values()) {
      const next = join.dueMs()
      if (next !== null) due = due === null ? next : Math.min(due, next)
    }
    return due
  }

  /** A hub's heights restarted (the operator reset the feed), so pending data of the old chain is dropped. */
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

  /** Interest that all current bodies have in a hub. */
  interestOf(hub: number): { coins: Set<string>; types: Set<MarketType>; views: Set<string> } {
    const coins = new Set<string>()
    const types = new Set<MarketType>()
    const views = this.views.interestsOf(hub)
    for (const { target } of this.#topics.values()) {
      for (const type of target.body.types) types.add(type)
      for (const coin of target.body.coins ?? []) if (shardOf(coin, this.#shards) === hub) coins.add(coin)
      for (const interest of checksumInterests(target.body, hub, this.#shards)) views.add(interest)
    }
    return { coins, types, views }
  }

  /** Receivers with coins of this hub on channels that send snapshots only once. A lost link breaks their books. */
  seededReceiversOf(hub: number): Set<R> {
    const receivers = new Set<R>()
    for (const { target, shared, joining } of this.#topics.values()) {
      if (!target.channel.snapshot || !hubsOf(target.body, this.#shards).includes(hub)) continue
      for (const receiver of [...shared, ...joining.keys()]) receivers.add(receiver)
    }
    return receivers
  }

  #deliver(group: Group<R>, emissions: readonly BookBatch[]): void {
    for (const batch of emissions) {
      deliverBatch(group, batch)
      this.#feed.onSent(batch.time)
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

function deliverBatch<R extends BookReceiver>(group: Group<R>, batch: BookBatch): void {
  const topics: Topic<R>[] = []
  const add = (topic: Topic<R>, entry: CoinUpdate) => {
    if (topic.pendingUpdates.length === 0) topics.push(topic)
    topic.pendingUpdates.push(entry)
  }
  for (const entry of batch.updates) {
    for (const topic of group.byCoin.get(entry.coin) ?? []) add(topic, entry)
    if (group.wildcards.size === 0) continue
    const type = marketTypeOf(entry.coin)
    for (const topic of group.wildcards) if (topic.types.has(type)) add(topic, entry)
  }
  for (const topic of topics) {
    const block = { ...batch, updates: topic.pendingUpdates }
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
