// Fetches the orders of a coin from their Durable Object in pieces, because they may be 17 MB and each call copies its
// result.

import type { Coin } from '../../core/coin.ts'
import { orReject } from '../../core/deadline.ts'
import { after, sleep } from '../../core/timers.client.ts'
import type { OrderBookApi } from '../../order-books/l4/order-book-api.ts'
import type { L4Channel } from '../channel.ts'
import type { SnapshotText } from './snapshot-queue.ts'

/** Pieces of 1 MiB requested concurrently. */
const MAX_PIECES_IN_FLIGHT = 4
/** Timeout for all pieces. Each piece takes one turn of an object that also serves other callers. */
const FETCH_TIMEOUT_MS = 15_000
const READY_TIMEOUT_MS = 5000
/**
 * The object is about as often a block behind its relays as ahead of them. A fetch is therefore retried until it
 * catches up.
 */
const MAX_TRIES = 10
const RETRY_MS = 50

export class OrdersFetcher {
  readonly #api: (coin: Coin) => OrderBookApi

  /** `api` returns a fresh stub. */
  constructor(api: (coin: Coin) => OrderBookApi) {
    this.#api = api
  }

  /** Whether the orders are ready. If they are not, the object starts fetching them. */
  async isReady(coin: Coin): Promise<boolean> {
    const reply = orReject(this.#api(coin).ready(-1), READY_TIMEOUT_MS, after)
    return reply.then(
      ({ ready }) => ready,
      () => false,
    )
  }

  /** Returns null if the object has no orders at or above the height. */
  fetch(coin: Coin, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<SnapshotText | null> {
    return orReject(this.#fetch(coin, atLeast, snapshot), FETCH_TIMEOUT_MS, after)
  }

  async #fetch(coin: Coin, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<SnapshotText | null> {
    const api = this.#api(coin)
    let snapshotInfo = await api.snapshot(atLeast)
    for (let tries = 1; !snapshotInfo && tries < MAX_TRIES; tries++) {
      await sleep(RETRY_MS)
      snapshotInfo = await api.snapshot(atLeast)
    }
    if (!snapshotInfo) return null
    const { height, first } = snapshotInfo
    const pieces = first === undefined ? [] : [first]
    while (pieces.length < snapshotInfo.pieces) {
      const count = Math.min(MAX_PIECES_IN_FLIGHT, snapshotInfo.pieces - pieces.length)
      const from = pieces.length
      const batch = await Promise.all(Array.from({ length: count }, (_, at) => api.snapshotPiece(height, from + at)))
      for (const piece of batch) if (piece !== null) pieces.push(piece)
      if (pieces.length < from + count) return null
    }
    return { position: snapshotInfo, text: snapshot(coin, snapshotInfo, pieces) }
  }
}
