// Who is sent the orders of a coin, one by one. Laws: who was sent a Snapshot of height s is sent exactly the blocks above s
// that have rows, in their order, and the `prev` of each is at or below what it stands at; a block is one text for all;
// where the rows of a block are not known, everybody begins anew with another Snapshot.

import { InterestCounts } from '../../block-log/interest-counts.ts'
import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { OrdersPosition } from '../../order-books/l4/followed-orders.ts'
import { L4_COINS_MAX } from '../../protocol/feed/protocol.ts'
import type { L4Target } from '../channel.ts'
import type { Receiver } from '../events/event-frames.ts'

/** Of a coin whose Snapshot is on its way: three seconds of the largest. */
const RECENT_CHARS = 16 * 1024 * 1024

/** A text that went out, by its height. */
type SentText = readonly [height: number, text: string]

interface Topic<R> {
  readonly channel: L4Target['channel']
  /** Rows of all blocks since this height have come; null: nothing leads to the next block. */
  floor: number | null
  /** The last height that had rows; `floor` before the first. */
  prev: number
  /** By the height of its Snapshot. */
  readonly live: Map<R, number>
  readonly waiting: Set<R>
  /** What has gone out since a Snapshot was asked for; null where none is, or too much has. */
  recent: SentText[] | null
  recentChars: number
  recordedFrom: number
}

export class L4Fanout<R extends Receiver> {
  /** Coins that bodies want. */
  readonly coins = new InterestCounts(L4_COINS_MAX)
  readonly #topics = new Map<string, Topic<R>>()
  /** Other coins are wanted. */
  onChange: () => void = () => undefined
  /** Rows of a coin were lost: these receivers have to be handed another Snapshot. */
  onLost: (coin: Coin, receivers: readonly R[]) => void = () => undefined
  #height = -1

  /** Coins at present. */
  get size(): number {
    return this.#topics.size
  }

  /** The receiver gets nothing before it is handed a Snapshot. */
  add({ channel, body }: L4Target, receiver: R): void {
    const topic = getOrCreate(this.#topics, body.coin, () => {
      this.coins.add([body.coin])
      this.onChange()
      const nobody = { live: new Map<R, number>(), waiting: new Set<R>() }
      return { channel, floor: null, prev: -1, ...nobody, recent: null, recentChars: 0, recordedFrom: -1 }
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

  /** Takes a block with what it has of wanted coins. */
  push(place: OrdersPosition, rows: ReadonlyMap<string, string>): void {
    this.#height = place.height
    for (const [coin, topic] of this.#topics) this.#handleRows(topic, coin, place, rows.get(coin))
  }

  #handleRows(topic: Topic<R>, coin: Coin, place: OrdersPosition, rows: string | undefined): void {
    if (rows === undefined) return this.#resetTopic(topic, coin)
    if (topic.floor === null) topic.floor = topic.prev = place.height - 1
    if (rows === '') return
    const { height } = place
    const { prev, live } = topic
    topic.prev = height
    if (live.size === 0 && topic.recent === null) return
    const text = topic.channel.encode(place, prev, rows)
    if (topic.recent) {
      topic.recent.push([height, text])
      topic.recentChars += text.length
      if (topic.recentChars > RECENT_CHARS) topic.recent = null
    }
    for (const [receiver, from] of live) if (height > from) receiver.send(text)
  }

  /** Blocks are missing, or heights begin anew. */
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

  /** To be called before a Snapshot is asked for, and `unwatch` when it was handed out: the lowest height that is of use, null for none. */
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

  /** Sends a Snapshot, `text`, and what has gone out above it; false where it does not lead to the next block. */
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
