// Coins of which the gateway wants all rows, from which block on it has them, and whose whole book it asked for.
// Law: a book that goes out is not older than the first block since which every one had all rows of its coin, nor than
// the last block at the moment when it was asked for: whoever asked has all rows that follow it.

import type { Block } from '../protocol/feed/block.ts'
import { L4_COINS_MAX, type WantFrame } from '../protocol/feed/protocol.ts'

/** A part of a book of `height`. */
export interface L4Part {
  readonly coin: string
  readonly height: number
  readonly isFirst: boolean
  readonly text: string
}

export class L4Requests {
  /** Wanted coins, with the first block of the run that ends with the block sent last; null while there is none. */
  readonly #since = new Map<string, number | null>()
  /** Coins that are asked for, with the least height that their book may have. */
  readonly #requested = new Map<string, number>()
  #coins: ReadonlySet<string> = new Set()
  /** The part that waits for the socket, and who hears whether it went out. */
  #offered: { readonly part: L4Part; readonly taken: (isTaken: boolean) => void } | null = null

  /** Wanted coins: a set that does not change any more. */
  get coins(): ReadonlySet<string> {
    return this.#coins
  }

  /** Whether a snapshot of the node is of use now. */
  get isDue(): boolean {
    return [...this.#requested.keys()].some((coin) => (this.#since.get(coin) ?? null) !== null)
  }

  /** What is wanted outlives a connection. */
  updateWanted({ whole, l4 }: Pick<WantFrame, 'whole' | 'l4'>): void {
    const drop = whole ? [...this.#since.keys()].filter((coin) => !l4?.add.includes(coin)) : (l4?.drop ?? [])
    for (const coin of drop) {
      this.#since.delete(coin)
      this.#requested.delete(coin)
    }
    for (const coin of l4?.add ?? [])
      if (!this.#since.has(coin) && this.#since.size < L4_COINS_MAX) this.#since.set(coin, null)
    this.#coins = new Set(this.#since.keys())
  }

  /** What is asked for, when `height` was the last block, ends with the connection. Asked again it is the same. */
  request(coins: readonly string[], height: number): void {
    for (const coin of coins) if (this.#since.has(coin) && !this.#requested.has(coin)) this.#requested.set(coin, height)
  }

  /** The next block goes out, with all rows of the coins that have an entry. */
  onBlock({ height, l4 }: Pick<Block, 'height' | 'l4'>): void {
    if (this.#since.size === 0) return
    const known = new Set(l4?.map(({ coin }) => coin))
    for (const [coin, since] of this.#since) this.#since.set(coin, known.has(coin) ? (since ?? height) : null)
  }

  /** The block that goes out next does not follow the last one. */
  onBreak(): void {
    for (const coin of this.#since.keys()) this.#since.set(coin, null)
  }

  onClose(): void {
    this.#requested.clear()
    this.#settle(false)
  }

  /** Coins that are asked for and may be had of a snapshot of this height. */
  coinsFor(height: number): string[] {
    return [...this.#requested.keys()].filter((coin) => this.#isUsable({ coin, height, isFirst: true }))
  }

  /** Answers true once the part went out, false where it is of no use any more: then neither are those behind it. */
  async offer(part: L4Part): Promise<boolean> {
    if (!this.#isUsable(part)) return false
    return await new Promise((taken) => {
      this.#offered = { part, taken }
    })
  }

  /** The text of the part that waits, which goes out now. */
  take(): string | null {
    const part = this.#offered?.part
    if (!part) return null
    const isTaken = this.#isUsable(part)
    if (isTaken && part.isFirst) this.#requested.delete(part.coin)
    this.#settle(isTaken)
    return isTaken ? part.text : null
  }

  #isUsable({ coin, height, isFirst }: Omit<L4Part, 'text'>): boolean {
    const since = this.#since.get(coin) ?? Number.POSITIVE_INFINITY
    const asked = isFirst ? (this.#requested.get(coin) ?? Number.POSITIVE_INFINITY) : 0
    return Math.max(since, asked) <= height
  }

  #settle(isTaken: boolean): void {
    this.#offered?.taken(isTaken)
    this.#offered = null
  }
}
