// Coins whose order-level rows the gateway wants, and the books that it requested. Each coin has the block since which
// every block was sent with the coin's rows. Invariant: a book is sent only if every block above its height was sent
// with the coin's rows, and the book is not older than its request.

import type { Block } from '../protocol/feed/block.ts'
import { L4_COINS_MAX, type WantFrame } from '../protocol/feed/protocol.ts'

/** A part of a book at `height`. */
export interface L4Part {
  readonly coin: string
  readonly height: number
  readonly isFirst: boolean
  readonly text: string
}

export class L4Requests {
  /**
   * Wanted coins, each with the first block of the unbroken run of blocks with its rows, up to the last block sent.
   * Null if there is no such run.
   */
  readonly #since = new Map<string, number | null>()
  /** Requested coins, each with the lowest height that its book may have. */
  readonly #requested = new Map<string, number>()
  #coins: ReadonlySet<string> = new Set()
  /** The part that waits for the socket, and the callback that reports whether it was sent. */
  #offered: { readonly part: L4Part; readonly resolve: (isTaken: boolean) => void } | null = null

  /** Wanted coins. The set is never modified. */
  get coins(): ReadonlySet<string> {
    return this.#coins
  }

  /** True when a snapshot from the node is needed now. */
  get isDue(): boolean {
    return [...this.#requested.keys()].some((coin) => (this.#since.get(coin) ?? null) !== null)
  }

  /** Updates the wanted coins, which remain valid after a connection ends. */
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

  /**
   * Requests the books of coins; `height` is the last block. Requests end with the connection. Repeating a request
   * changes nothing.
   */
  request(coins: readonly string[], height: number): void {
    for (const coin of coins) if (this.#since.has(coin) && !this.#requested.has(coin)) this.#requested.set(coin, height)
  }

  /** Records that a block was sent, with all rows of the coins in `l4`. */
  onBlock({ height, l4 }: Pick<Block, 'height' | 'l4'>): void {
    if (this.#since.size === 0) return
    const known = new Set(l4?.map(({ coin }) => coin))
    for (const [coin, since] of this.#since) this.#since.set(coin, known.has(coin) ? (since ?? height) : null)
  }

  /** Call when the next block does not follow the last one. */
  onBreak(): void {
    for (const coin of this.#since.keys()) this.#since.set(coin, null)
  }

  onClose(): void {
    this.#requested.clear()
    this.#settle(false)
  }

  /** Requested coins that a snapshot of this height can serve. */
  coinsFor(height: number): string[] {
    return [...this.#requested.keys()].filter((coin) => this.#isUsable({ coin, height, isFirst: true }))
  }

  /**
   * Offers a part. Resolves with true once it has been sent, or with false if it is no longer useful. In that case, later
   * parts are not useful either.
   */
  async offer(part: L4Part): Promise<boolean> {
    if (!this.#isUsable(part)) return false
    return await new Promise((resolve) => {
      this.#offered = { part, resolve }
    })
  }

  /**
   * Returns the frame of the offered part, to be sent now; null if no part was offered or the part is no longer usable.
   */
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
    const requested = isFirst ? (this.#requested.get(coin) ?? Number.POSITIVE_INFINITY) : 0
    return Math.max(since, requested) <= height
  }

  #settle(isTaken: boolean): void {
    this.#offered?.resolve(isTaken)
    this.#offered = null
  }
}
