// Serves a new subscriber of a snapshot channel individually, coin by coin, until it can use the shared frames.
// Invariant: a coin's snapshot of height s precedes its updates, which are exactly those above s, in order.
//
// The joiner drops a coin's changes until its snapshot is sent, and passes them afterwards. Changes that arrive between
// the request and the sending of a snapshot are recorded and follow it (book-fanout.ts).

import { type Coin, shardOf } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { BlockTexts, BookBatch, BookChannel, CoinUpdate } from '../channel.ts'

const NO_TEXTS: BlockTexts = { texts: [], isBroken: false }

export class Joiner {
  readonly #encode: BookChannel<unknown>['encode']
  readonly #shards: number
  /** Height of each coin's snapshot. */
  readonly #from = new Map<string, number>()
  /** Highest snapshot height per hub. Shared frames at or below it could repeat a snapshot's content. */
  readonly #floor = new Map<number, number>()
  /** Coins that wait for their snapshots, by hub. */
  readonly #pending = new Map<number, Set<string>>()
  #isTakenOver: (coin: Coin) => boolean = () => false
  #isSeeded = false

  constructor({ encode }: Pick<BookChannel<unknown>, 'encode'>, shards: number) {
    this.#encode = encode
    this.#shards = shards
  }

  /** Adds coins that need snapshots. */
  expect(coins: Iterable<string>): void {
    for (const coin of coins) getOrCreate(this.#pending, shardOf(coin, this.#shards), () => new Set()).add(coin)
  }

  /** Coins of a hub that wait for their snapshots. */
  pendingCoins(hub: number): ReadonlySet<string> {
    return this.#pending.get(hub) ?? new Set()
  }

  get isComplete(): boolean {
    for (const { size } of this.#pending.values()) if (size > 0) return false
    return true
  }

  /** Call it when no more snapshots are needed. */
  abandon(): void {
    this.#pending.clear()
  }

  /**
   * Call it when a snapshot is sent, or when the coin has no book (height -1). Afterwards, changes above this height
   * pass.
   */
  onSnapshot({ coin, height }: Pick<BookSnapshot, 'coin' | 'height'>): void {
    const hub = shardOf(coin, this.#shards)
    this.#pending.get(hub)?.delete(coin)
    this.#from.set(coin, height)
    this.#floor.set(hub, Math.max(height, this.#floor.get(hub) ?? -1))
  }

  /**
   * Continues the coins accepted by `isTakenOver` where another subscription of the socket stops. `previous` is that
   * subscription's joiner, if it still has one.
   */
  takeOver(isTakenOver: (coin: Coin) => boolean, previous: Joiner | undefined): void {
    this.#isTakenOver = isTakenOver
    for (const pending of this.#pending.values())
      for (const coin of pending) if (isTakenOver(coin)) pending.delete(coin)
    for (const [coin, height] of previous ? previous.#from : [])
      if (isTakenOver(coin)) this.onSnapshot({ coin, height })
  }

  /**
   * Call it when all snapshots have been sent. Afterwards, the changes of new coins pass without a snapshot, as in the
   * shared frames.
   */
  markSeeded(): void {
    this.#isSeeded = true
  }

  /** Encodes the part of a block that this subscriber gets. */
  push(block: BookBatch): BlockTexts {
    const updates = block.updates.filter((entry) => this.#passes(entry, block.height))
    return updates.length > 0 ? this.#encode({ ...block, updates }) : NO_TEXTS
  }

  /** True if no change at or below the height of a snapshot can still arrive. `clearedHeight`: see BlockJoin. */
  isSettled(clearedHeight: (hub: number) => number): boolean {
    if (!this.#isSeeded) return false
    for (const [hub, height] of this.#floor) if (clearedHeight(hub) < height) return false
    return true
  }

  #passes({ coin, mark }: CoinUpdate, height: number): boolean {
    const snapshotHeight = this.#from.get(coin)
    if (snapshotHeight !== undefined) return height > snapshotHeight
    if (this.#isSeeded || this.#isTakenOver(coin)) return true
    // This coin was listed after its hub named the coins, so its snapshot is fetched too.
    if (mark === '+') this.expect([coin])
    return false
  }
}
