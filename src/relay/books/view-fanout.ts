// Sends book views to their subscribers. Invariants: a frame is built once for all receivers and sent only if it
// differs from the previous frame; a frame shows the full state, so a client that missed frames continues with the
// next; no hub waits for another.

import { type Coin, dexOf, marketTypeOf, shardOf } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { coinInterest, typeInterest } from '../../order-books/view-interests.ts'
import type { HubFrameToRelay, ViewFragment } from '../../protocol/hub/hub-link.ts'
import type { CoinView, ViewBody, ViewsTarget } from '../channel.ts'
import type { Receiver } from '../events/event-frames.ts'

interface Topic<R> {
  readonly target: ViewsTarget
  readonly receivers: Set<R>
  /** Receivers that wait for the current state. */
  readonly waiting: Set<R>
  /** True if every hub has reported its current state. */
  isComplete: boolean
  /** Request to the hubs, shared by all waiting receivers. */
  fetching: Promise<void> | null
  /** For a joint frame: the last frame, its block time, and whether a coin has changed since. */
  text: string
  sentMs: number
  isStale: boolean
}

interface StoredView extends CoinView {
  readonly height: number
}

/** One view with the topics that use it. */
interface View<R> {
  readonly stored: Map<string, StoredView>
  readonly byCoin: Map<string, Set<Topic<R>>>
  readonly wildcards: Set<Topic<R>>
}

/** Assumed number of stored strings for a view with a wildcard. */
const WILDCARD_COINS = 512
/** Additional load of each wildcard: its own combined frame, and a check of every changed coin. */
const WILDCARD_BODY = 32

export class ViewFanout<R extends Receiver> {
  readonly #shards: number
  readonly #topics = new Map<string, Topic<R>>()
  readonly #views = new Map<string, View<R>>()

  constructor(shards: number) {
    this.#shards = shards
  }

  /** Number of distinct bodies. */
  get size(): number {
    return this.#topics.size
  }

  /** Upper bound on the number of stored strings, plus bodies. A string that several bodies share counts once. */
  get load(): number {
    let load = 0
    for (const { byCoin, wildcards } of this.#views.values())
      load += wildcards.size > 0 ? WILDCARD_COINS + wildcards.size * WILDCARD_BODY : byCoin.size
    return load + this.#topics.size
  }

  /** `key` identifies the distinct body. The receiver gets nothing before `start`. */
  add(key: string, target: ViewsTarget, receiver: R): void {
    let topic = this.#topics.get(key)
    if (!topic) {
      topic = {
        target,
        receivers: new Set<R>(),
        waiting: new Set<R>(),
        isComplete: false,
        fetching: null,
        text: '',
        sentMs: 0,
        isStale: false,
      }
      this.#topics.set(key, topic)
      const { coins, view } = target.body
      const { byCoin, wildcards } = getOrCreate(this.#views, view, newView<R>)
      if (coins === null) wildcards.add(topic)
      for (const coin of coins ?? []) getOrCreate(byCoin, coin, () => new Set()).add(topic)
    }
    topic.waiting.add(receiver)
  }

  /** Sends the current state to the receiver, then changes. */
  start(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    if (!topic?.waiting.delete(receiver)) return
    const { channel, body } = topic.target
    const pieces = this.#storedOf(body)
    const texts = channel.isJoint ? [channel.encode(pieces, body)] : pieces.map((piece) => channel.encode(piece, body))
    if (channel.isJoint && topic.receivers.size === 0)
      this.#recordSent(
        topic,
        texts.join(''),
        pieces.reduce((latest, { time }) => Math.max(latest, time), 0),
      )
    // The receivers of this topic have different last frames until the next frame is sent.
    else if (texts[0] !== topic.text) topic.text = ''
    topic.receivers.add(receiver)
    for (const text of texts) receiver.send(text)
  }

  remove(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    if (!topic) return
    topic.waiting.delete(receiver)
    topic.receivers.delete(receiver)
    if (topic.receivers.size + topic.waiting.size > 0) return
    this.#topics.delete(key)
    this.#removeFromView(topic)
  }

  #removeFromView(topic: Topic<R>): void {
    const { view: name, coins } = topic.target.body
    const view = this.#views.get(name)
    if (!view) return
    view.wildcards.delete(topic)
    for (const coin of coins ?? []) {
      const topics = view.byCoin.get(coin)
      if (topics?.delete(topic) && topics.size === 0) view.byCoin.delete(coin)
    }
    for (const coin of view.stored.keys()) if (topicsOf(view, coin).length === 0) view.stored.delete(coin)
    if (view.wildcards.size + view.byCoin.size === 0) this.#views.delete(name)
  }

  /** Null if nobody subscribes to this body; else whether every hub has reported. */
  isComplete(key: string): boolean | null {
    return this.#topics.get(key)?.isComplete ?? null
  }

  /** Approximate length of the current state, in characters. */
  sizeOf(key: string): number {
    const topic = this.#topics.get(key)
    const pieces = topic ? this.#storedOf(topic.target.body) : []
    return pieces.reduce((size, { text }) => size + text.length, 0)
  }

  /** Runs `fetch` once for all receivers that wait for this body. `fetch` returns whether every hub has reported. */
  async fetchOnce(key: string, fetch: () => Promise<boolean>): Promise<void> {
    const topic = this.#topics.get(key)
    if (!topic) return
    topic.fetching ??= fetch().then((isWhole) => {
      topic.isComplete = isWhole
      topic.fetching = null
    })
    return topic.fetching
  }

  /**
   * Stores the views that a hub sent for a block or on request, and sends changes. Returns true if it sent something.
   */
  push({ height, time, views = [] }: Pick<HubFrameToRelay, 'height' | 'time' | 'views'>): boolean {
    let isSent = false
    for (const piece of views) isSent = this.#store(piece, height, time) || isSent
    for (const { wildcards } of this.#views.values()) {
      const texts = new Map<string | undefined, string>()
      for (const topic of wildcards) isSent = this.#sendJoint(topic, time, texts) || isSent
    }
    return isSent
  }

  #store({ view: name, coin, piece }: ViewFragment, height: number, time: number): boolean {
    const view = this.#views.get(name)
    const topics = view ? topicsOf(view, coin) : []
    const stored = view?.stored.get(coin)
    // A response may overtake earlier blocks.
    if (!view || topics.length === 0 || (stored && stored.height >= height)) return false
    view.stored.set(coin, { coin, time, height, text: piece })
    if (stored?.text === piece) return false
    let text: string | undefined
    for (const topic of topics) {
      const { channel, body } = topic.target
      topic.isStale ||= (body.dex ?? '') === dexOf(coin)
      if (channel.isJoint || topic.receivers.size === 0) continue
      text ??= channel.encode({ coin, time, text: piece }, body)
      for (const receiver of topic.receivers) receiver.send(text)
    }
    return text !== undefined
  }

  /** Sends a joint frame when it is due. `texts` caches the view's encoded frames by DEX. */
  #sendJoint(topic: Topic<R>, time: number, texts: Map<string | undefined, string>): boolean {
    const { channel, body } = topic.target
    const isEarly = time >= topic.sentMs && time - topic.sentMs < (body.everyMs ?? 0)
    if (!channel.isJoint || !topic.isStale || topic.receivers.size === 0 || isEarly) return false
    const before = topic.text
    const text = getOrCreate(texts, body.dex, () => channel.encode(this.#storedOf(body), body))
    this.#recordSent(topic, text, text === before ? topic.sentMs : time)
    if (text === before) return false
    for (const receiver of topic.receivers) receiver.send(text)
    return true
  }

  #recordSent(topic: Topic<R>, text: string, timeMs: number): void {
    topic.text = text
    topic.sentMs = timeMs
    topic.isStale = false
  }

  #storedOf({ view, coins, types }: ViewBody): StoredView[] {
    const stored = this.#views.get(view)?.stored ?? new Map<string, StoredView>()
    if (coins === null) return [...stored.values()].filter(({ coin }) => types.includes(marketTypeOf(coin)))
    return coins.flatMap((coin) => stored.get(coin) ?? [])
  }

  /** A hub's heights restarted, so any new view replaces the stored ones. */
  restart(hub: number): void {
    for (const { stored } of this.#views.values())
      for (const [coin, piece] of stored)
        if (shardOf(coin, this.#shards) === hub) stored.set(coin, { ...piece, height: -1 })
  }

  /** Interests that all current bodies have at this hub. */
  interestsOf(hub: number): Set<string> {
    const bodies = [...this.#topics.values()].map(({ target }) => target.body)
    return new Set(bodies.flatMap((body) => viewInterests(body, hub, this.#shards)))
  }
}

/** Interests of a body at a hub. */
export function viewInterests(
  { view, coins, types }: Pick<ViewBody, 'view' | 'coins' | 'types'>,
  hub: number,
  shards: number,
): string[] {
  if (coins === null) return types.map((type) => typeInterest(view, type))
  return coins.filter((coin) => shardOf(coin, shards) === hub).map((coin) => coinInterest(view, coin))
}

function topicsOf<R>({ byCoin, wildcards }: View<R>, coin: Coin): Topic<R>[] {
  const type = marketTypeOf(coin)
  return [...(byCoin.get(coin) ?? []), ...[...wildcards].filter(({ target }) => target.body.types.includes(type))]
}

function newView<R>(): View<R> {
  return { stored: new Map(), byCoin: new Map(), wildcards: new Set() }
}
