// One relay as a hub sees it: what it is interested in and the texts it is sent.

import { type MarketType, marketTypeOf } from '../core/coin.ts'
import type { BookInterest } from './hub-api.ts'
import { encodeHubFrame, type HubTick } from './hub-link.ts'

/** A coin's fragment with its text, which is encoded once for all relays. */
export interface EncodedFragment {
  readonly coin: string
  readonly text: string
}

export class RelayLink {
  readonly name: string
  readonly #coins = new Set<string>()
  readonly #types = new Set<MarketType>()
  readonly #send: (text: string) => void

  constructor(name: string, interest: BookInterest, send: (text: string) => void) {
    this.name = name
    this.#send = send
    this.setInterest(interest)
  }

  setInterest({ coins, types }: BookInterest): void {
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

  /** Sends one block: the fragments of interest, or the bare tick. */
  send(tick: HubTick, fragments: readonly EncodedFragment[]): void {
    let texts = ''
    for (const { coin, text } of fragments) if (this.#wants(coin)) texts += text
    this.#send(encodeHubFrame(tick, texts))
  }

  #wants(coin: string): boolean {
    return this.#coins.has(coin) || (this.#types.size > 0 && this.#types.has(marketTypeOf(coin)))
  }
}
