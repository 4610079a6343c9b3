// A hub's side of one relay: its interests and the frames it gets.

import { type Coin, type MarketType, marketTypeOf } from '../core/coin.ts'
import type { Cursor } from '../protocol/feed/log-api.ts'
import type { BookInterest } from '../protocol/hub/hub-api.ts'
import {
  type CoinFragment,
  encodeChecksum,
  encodeFragment,
  encodeHubFrame,
  encodeViewFragment,
  type HubTick,
  type ViewFragment,
} from '../protocol/hub/hub-link.ts'
import { ViewInterests } from './view-interests.ts'

/** A coin's fragment and its string, encoded once for all relays. */
export interface EncodedFragment {
  readonly coin: Coin
  readonly text: string
  readonly checksum?: number
}

export const encodeAll = (fragments: readonly CoinFragment[]): EncodedFragment[] =>
  fragments.map((fragment) => ({ ...fragment, text: encodeFragment(fragment) }))

export class RelayLink {
  readonly name: string
  readonly #coins = new Set<string>()
  readonly #types = new Set<MarketType>()
  views = new ViewInterests()
  /** True if the relay has new interests in views: all its views are then sent in full with the next block. */
  needsFullViews = false
  readonly #cursor: Cursor | null
  readonly #send: (text: string) => void

  /** `cursor`: the last position that the relay has. */
  constructor(name: string, interest: BookInterest, cursor: Cursor | null, send: (text: string) => void) {
    this.name = name
    this.#cursor = cursor
    this.#send = send
    this.setInterest(interest)
  }

  setInterest({ coins, types, views }: BookInterest): void {
    if (this.views.add(views)) this.needsFullViews = true
    this.views = new ViewInterests(views)
    this.#coins.clear()
    this.#types.clear()
    this.addCoins(coins)
    this.addTypes(types)
  }

  addCoins(coins: readonly string[]): void {
    for (const coin of coins) this.#coins.add(coin)
  }

  addTypes(types: readonly MarketType[]): void {
    for (const type of types) this.#types.add(type)
  }

  /**
   * Sends one block: the parts that the relay wants, or only the tick. `pieces` is null while the books are unknown.
   */
  send(tick: HubTick, fragments: readonly EncodedFragment[], pieces: readonly ViewFragment[] | null = null): void {
    let texts = ''
    for (const { coin, text, checksum } of fragments) {
      if (!this.#isInterestedIn(coin)) continue
      texts += text
      if (checksum !== undefined && this.views.needsChecksum(coin)) texts += encodeChecksum(checksum)
    }
    for (const piece of pieces ?? []) if (this.views.has(piece.view, piece.coin)) texts += encodeViewFragment(piece)
    // After a restart, the hub may send a height that the relay already has. The relay drops such a frame.
    if (pieces && !(tick.epoch === this.#cursor?.epoch && tick.height <= this.#cursor.height))
      this.needsFullViews = false
    this.#send(encodeHubFrame(tick, texts))
  }

  #isInterestedIn(coin: Coin): boolean {
    return this.#coins.has(coin) || (this.#types.size > 0 && this.#types.has(marketTypeOf(coin)))
  }
}
