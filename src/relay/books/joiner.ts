// One subscriber of a channel with Snapshots until the shared frames are its own: it is served alone, and coin by coin.
// Law: a coin's Snapshot of height s comes before its updates, and these are exactly the ones above s, in order.
//
// A coin that waits for its Snapshot is silent; from it on the coin's changes pass. Nothing is held back meanwhile:
// what went out between the fetch of a Snapshot and its sending is sent after it (book-fanout.ts).

import { type Coin, shardOf } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { BlockTexts, BookBatch, BookChannel, CoinUpdate } from '../channel.ts'

const NO_TEXTS: BlockTexts = { texts: [], isBroken: false }

export class Joiner {
  readonly #encode: BookChannel<unknown>['encode']
  readonly #shards: number
  /** Height of each coin's Snapshot. */
  readonly #from = new Map<string, number>()
  /** Per hub the highest Snapshot: below it the shared frame could repeat what the Snapshot has. */
  readonly #floor = new Map<number, number>()
  /** By hub, the coins whose Snapshots are still to come. */
  readonly #pending = new Map<number, Set<string>>()
  #isTakenOver: (coin: Coin) => boolean = () => false
  #isSeeded = false

  constructor({ encode }: Pick<BookChannel<unknown>, 'encode'>, shards: number) {
    this.#encode = encode
    this.#shards = shards
  }

  /** These coins get Snapshots. */
  expect(coins: Iterable<string>): void {
    for (const coin of coins) getOrCreate(this.#pending, shardOf(coin, this.#shards), () => new Set()).add(coin)
  }

  /** The coins of a hub whose Snapshots are still to come. */
  pendingCoins(hub: number): ReadonlySet<string> {
    return this.#pending.get(hub) ?? new Set()
  }

  get isComplete(): boolean {
    for (const { size } of this.#pending.values()) if (size > 0) return false
    return true
  }

  /** No Snapshot is wanted any more. */
  abandon(): void {
    this.#pending.clear()
  }

  /** A Snapshot goes out, or there is no book to send (height -1): the coin is served from above its height. */
  onSnapshot({ coin, height }: Pick<BookSnapshot, 'coin' | 'height'>): void {
    const hub = shardOf(coin, this.#shards)
    this.#pending.get(hub)?.delete(coin)
    this.#from.set(coin, height)
    this.#floor.set(hub, Math.max(height, this.#floor.get(hub) ?? -1))
  }

  /** From this block on the coins that pass `had` go on where another subscription of the socket, served by `before`, leaves them. */
  takeOver(had: (coin: Coin) => boolean, before: Joiner | undefined): void {
    this.#isTakenOver = had
    for (const missing of this.#pending.values()) for (const coin of missing) if (had(coin)) missing.delete(coin)
    for (const [coin, height] of before ? before.#from : []) if (had(coin)) this.onSnapshot({ coin, height })
  }

  /** Every Snapshot has gone out: a coin that is new from here on begins by itself, as in the shared frames. */
  markSeeded(): void {
    this.#isSeeded = true
  }

  /** What this subscriber gets of a block. */
  push(block: BookBatch): BlockTexts {
    const entries = block.updates.filter((entry) => this.#passes(entry, block.height))
    return entries.length > 0 ? this.#encode({ ...block, updates: entries }) : NO_TEXTS
  }

  /** True where nothing at or below a Snapshot can come any more. `clearedOf`: see BlockJoin. */
  isSettled(clearedOf: (hub: number) => number): boolean {
    if (!this.#isSeeded) return false
    for (const [hub, height] of this.#floor) if (clearedOf(hub) < height) return false
    return true
  }

  #passes({ coin, mark }: CoinUpdate, height: number): boolean {
    const from = this.#from.get(coin)
    if (from !== undefined) return height > from
    if (this.#isSeeded || this.#isTakenOver(coin)) return true
    // Listed since its hub named the coins: its Snapshot is fetched like the others'.
    if (mark === '+') this.expect([coin])
    return false
  }
}
