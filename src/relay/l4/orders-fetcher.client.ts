// Fetches the orders of a coin from their object, piece by piece: whole they may be 17 MB, and each call is a copy.

import type { Coin } from '../../core/coin.ts'
import { orReject } from '../../core/deadline.ts'
import { after, sleep } from '../../core/timers.client.ts'
import type { OrderBookApi } from '../../order-books/l4/order-book-api.ts'
import type { L4Channel } from '../channel.ts'
import type { SnapshotText } from './snapshot-queue.ts'

/** Pieces of 1 MiB that are asked for at once. */
const MAX_PIECES_IN_FLIGHT = 4
/** All of it; a piece is a turn of an object that has others to serve. */
const FETCH_TIMEOUT_MS = 15_000
const READY_TIMEOUT_MS = 5000
/** It stands a block behind its relays as often as before them. */
const MAX_TRIES = 10
const RETRY_MS = 50

export class OrdersFetcher {
  readonly #api: (coin: Coin) => OrderBookApi

  /** `api` answers a fresh stub. */
  constructor(api: (coin: Coin) => OrderBookApi) {
    this.#api = api
  }

  /** Whether the orders are there; where they are not, they are fetched from now on. */
  async isReady(coin: Coin): Promise<boolean> {
    const asked = orReject(this.#api(coin).ready(-1), READY_TIMEOUT_MS, after)
    return asked.then(
      ({ ready }) => ready,
      () => false,
    )
  }

  /** Null where they are not there, at or above the height. */
  fetch(coin: Coin, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<SnapshotText | null> {
    return orReject(this.#fetch(coin, atLeast, snapshot), FETCH_TIMEOUT_MS, after)
  }

  async #fetch(coin: Coin, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<SnapshotText | null> {
    const api = this.#api(coin)
    let whole = await api.snapshot(atLeast)
    for (let tries = 1; !whole && tries < MAX_TRIES; tries++) {
      await sleep(RETRY_MS)
      whole = await api.snapshot(atLeast)
    }
    if (!whole) return null
    const { height, first } = whole
    const pieces = first === undefined ? [] : [first]
    while (pieces.length < whole.pieces) {
      const count = Math.min(MAX_PIECES_IN_FLIGHT, whole.pieces - pieces.length)
      const from = pieces.length
      const some = await Promise.all(Array.from({ length: count }, (_, at) => api.snapshotPiece(height, from + at)))
      for (const piece of some) if (piece !== null) pieces.push(piece)
      if (pieces.length < from + count) return null
    }
    return { position: whole, text: snapshot(coin, whole, pieces) }
  }
}
