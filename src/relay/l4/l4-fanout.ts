// Sends the individual orders of coins to their subscribers. Invariants: after a snapshot of height s, a subscriber
// gets exactly the blocks above s that have rows, in order, each with a `prev` at or below the subscriber's position; a
// block is encoded once for all subscribers; if the rows of a block are unknown, all subscribers restart with a new
// snapshot.

import { InterestCounts } from '../../block-log/interest-counts.ts'
import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { OrdersPosition } from '../../order-books/l4/followed-orders.ts'
import { L4_COINS_MAX } from '../../protocol/feed/protocol.ts'
import type { L4Target } from '../channel.ts'
import type { Receiver } from '../events/event-frames.ts'

/**
 * Maximum length of the frames recorded while a coin's snapshot is in flight. The largest coin takes three seconds to
 * reach it.
 */
const RECENT_CHARS = 16 * 1024 * 1024

/** A sent frame and its height. */
type SentText = readonly [height: number, text: string]

interface Topic<R> {
  readonly channel: L4Target['channel']
  /** Rows are known for every block above this height. Null until a block with known rows arrives. */
  floor: number | null
  /** The last height with rows, or `floor` if no block had rows yet. */
  prev: number
  /** Receivers with the heights of their snapshots. */
  readonly live: Map<R, number>
  readonly waiting: Set<R>
  /**
   * Frames sent since a snapshot was requested. Null if no snapshot was requested, or if the frames exceed the limit.
   */
  recent: SentText[] | null
  recentChars: number
  recordedFrom: number
}

export class L4Fanout<R extends Receiver> {
  /** Subscribed coins. */
  readonly coins = new InterestCounts(L4_COINS_MAX)
  readonly #topics = new Map<string, Topic<R>>()
  /** Called when the subscribed coins change. */
  onChange: () => void = () => undefined
  /** Rows of a coin were lost, so these receivers need a new snapshot. */
  onLost: (coin: Coin, receivers: readonly R[]) => void = () => undefined
  #height = -1

  /** Number of subscribed coins. */
  get size(): number {
    return this.#topics.size
  }

  /** The receiver gets nothing before its snapshot. */
  add({ channel, body }: L4Target, receiver: R): void {
    const topic = getOrCreate(this.#topics, body.coin, () => {
      this.coins.add([body.coin])
      this.onChange()
      const noReceivers = { live: new Map<R, number>(), waiting: new Set<R>() }
      return { channel, floor: null, prev: -1, ...noReceivers, recent: null, recentChars: 0, recordedFrom: -1 }
    })
    topic.waiting.add(receiver)
  }

  remove(coin: Coin, receiver: R): void {
    const topic = this.#topics.get(coin)
    if (!topic) return
    topic.live.delete(receiver)
    topic.waiting.delete(receiver)
    if (topic.live.size + topic.waiting.size > 0) return
    this.#topics.delete(coin)
    this.coins.remove([coin])
    this.onChange()
  }

  /** Handles a block. `rows` contains its rows of subscribed coins. */
  push(position: OrdersPosition, rows: ReadonlyMap<string, string>): void {
    this.#height = position.height
    for (const [coin, topic] of this.#topics) this.#handleRows(topic, coin, position, rows.get(coin))
  }

  #handleRows(topic: Topic<R>, coin: Coin, position: OrdersPosition, rows: string | undefined): void {
    if (rows === undefined) return this.#resetTopic(topic, coin)
    if (topic.floor === null) topic.floor = topic.prev = position.height - 1
    if (rows === '') return
    const { height } = position
    const { prev, live } = topic
    topic.prev = height
    if (live.size === 0 && topic.recent === null) return
    const text = topic.channel.encode(position, prev, rows)
    if (topic.recent) {
      topic.recent.push([height, text])
      topic.recentChars += text.length
      if (topic.recentChars > RECENT_CHARS) topic.recent = null
    }
    for (const [receiver, from] of live) if (height > from) receiver.send(text)
  }

  /** Restarts all subscribers. Call it when blocks are missing or heights restarted. */
  reset(): void {
    for (const [coin, topic] of this.#topics) this.#resetTopic(topic, coin)
  }

  #resetTopic(topic: Topic<R>, coin: Coin): void {
    topic.recent = null
    if (topic.floor === null) return
    topic.floor = null
    const receivers = [...topic.live.keys()]
    topic.live.clear()
    for (const receiver of receivers) topic.waiting.add(receiver)
    if (receivers.length > 0) this.onLost(coin, receivers)
  }

  /**
   * Call it before requesting a snapshot, and `stopRecording` after sending it. Returns the lowest usable height; null
   * if there is none.
   */
  startRecording(coin: Coin): number | null {
    const topic = this.#topics.get(coin)
    if (!topic || topic.floor === null) return null
    topic.recent = []
    topic.recentChars = 0
    topic.recordedFrom = this.#height
    return topic.recordedFrom
  }

  stopRecording(coin: Coin): void {
    const topic = this.#topics.get(coin)
    if (topic) topic.recent = null
  }

  /**
   * Sends a snapshot and the frames above its height. Returns false if some frames above that height were not recorded.
   */
  deliverSnapshot(coin: Coin, receiver: R, height: number, text: string): boolean {
    const topic = this.#topics.get(coin)
    if (!topic?.recent || height < topic.recordedFrom) return false
    if (!topic.waiting.delete(receiver)) return true
    topic.live.set(receiver, height)
    receiver.send(text)
    for (const [above, update] of topic.recent) if (above > height) receiver.send(update)
    return true
  }
}
