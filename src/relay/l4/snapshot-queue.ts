// Queue of order snapshots. A snapshot may need as much memory as the rest of a relay, so only one large snapshot or a
// few small ones are in memory. Invariants: accounts take turns, however many sockets each has; a snapshot serves all
// waiters of its coin that can receive it now; a waiter that cannot receive its snapshot, or whose coin is not ready,
// delays no other waiter.

import { BoundedMap } from '../../core/bounded-map.ts'
import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { AccountId } from '../../core/ids.ts'
import type { OrdersPosition } from '../../order-books/l4/followed-orders.ts'
import type { PacedReceiver } from '../events/event-frames.ts'
import type { Clock } from '../sockets/connection.ts'

/** After this time, the queue checks again for room and for the coin's book. */
const POLL_MS = 250
/** A snapshot is shared for this long. Later waiters get a new one. */
const ROUND_MS = 1000
/** Maximum number of bytes per millisecond that a relay copies into its sockets. */
const BYTES_PER_MS = 48 * 1024
const MAX_SIZES = 1024
/** After a gap, hundreds of coins wait. This many small ones are fetched concurrently. */
const MAX_SMALL_IN_FLIGHT = 16
const SMALL_CHARS = 256 * 1024

export interface SnapshotWaiter {
  readonly account: AccountId
  readonly coin: Coin
  readonly receiver: PacedReceiver
}

/** An encoded snapshot with its position. */
export interface SnapshotText {
  readonly position: OrdersPosition
  readonly text: string
}

interface SnapshotQueuePorts<G> {
  readonly clock: Clock
  wait(ms: number): Promise<void>
  /** Starts recording a coin's frames. Returns the lowest usable height; null if there is none. */
  startRecording(coin: Coin): number | null
  stopRecording(coin: Coin): void
  /** Null if the book is not ready. */
  fetch(coin: Coin, atLeast: number): Promise<SnapshotText | null>
  /** False if the snapshot is no longer usable. */
  deliver(waiter: G, snapshot: SnapshotText): boolean
}

export class SnapshotQueue<G extends SnapshotWaiter> {
  readonly #ports: SnapshotQueuePorts<G>
  /** Waiters by account. The account served last comes last. */
  readonly #queues = new Map<string, Map<G, (isServed: boolean) => void>>()
  /** Last snapshot size of each coin. */
  readonly #sizes = new BoundedMap<string, number>(MAX_SIZES)
  /** Coins that are not ready, with the time of the next attempt. */
  readonly #absent = new BoundedMap<string, number>(MAX_SIZES)
  #isServing = false

  constructor(ports: SnapshotQueuePorts<G>) {
    this.#ports = ports
  }

  /** Resolves with true when the waiter has its snapshot, or with false if it left first. */
  enter(waiter: G): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    getOrCreate(this.#queues, waiter.account, () => new Map()).set(waiter, resolve)
    if (!this.#isServing) void this.#serve()
    return promise
  }

  /** Has no effect if the waiter is not in the queue. */
  leave(waiter: G): void {
    this.#remove(waiter)?.(false)
  }

  #remove(waiter: G): ((isServed: boolean) => void) | undefined {
    const queue = this.#queues.get(waiter.account)
    const resolve = queue?.get(waiter)
    queue?.delete(waiter)
    if (queue?.size === 0) this.#queues.delete(waiter.account)
    return resolve
  }

  async #serve(): Promise<void> {
    this.#isServing = true
    while (this.#queues.size > 0) {
      const first = this.#nextWaiter((one) => this.#isPresent(one))
      if (!first) await this.#ports.wait(POLL_MS)
      else await Promise.all(this.#withSmallCoins(first.coin).map((coin) => this.#serveCoin(coin)))
    }
    this.#isServing = false
  }

  async #serveCoin(coin: Coin): Promise<void> {
    if (!(await this.#round(coin))) this.#absent.set(coin, this.#ports.clock.nowMs + POLL_MS)
  }

  /** The coin and, if it is small, other small coins. */
  #withSmallCoins(coin: Coin): string[] {
    const coins = new Set([coin])
    const isNext = (one: G) => this.#isSmall(one.coin) && !coins.has(one.coin) && this.#isPresent(one)
    while (this.#isSmall(coin) && coins.size < MAX_SMALL_IN_FLIGHT) {
      const next = this.#nextWaiter(isNext)
      if (!next) break
      coins.add(next.coin)
    }
    return [...coins]
  }

  /** A coin that was never fetched may be large. */
  #isSmall(coin: Coin): boolean {
    return (this.#sizes.get(coin) ?? Number.POSITIVE_INFINITY) <= SMALL_CHARS
  }

  #isPresent({ coin }: G): boolean {
    return (this.#absent.get(coin) ?? 0) <= this.#ports.clock.nowMs
  }

  /** The first matching waiter that can receive its snapshot now. */
  #nextWaiter(matches: (waiter: G) => boolean): G | undefined {
    // A waiter that can never be served leaves the queue during this loop, so the loop uses copies.
    for (const queue of [...this.#queues.values()])
      for (const waiter of [...queue.keys()])
        if (matches(waiter) && waiter.receiver.snapshotWaitMs(this.#sizes.get(waiter.coin) ?? 0) === 0) return waiter
    return undefined
  }

  /** Sends a coin's snapshot to its waiters; false if it was not ready. */
  async #round(coin: Coin): Promise<boolean> {
    const { clock, startRecording, stopRecording, fetch, deliver, wait } = this.#ports
    const atLeast = startRecording(coin)
    if (atLeast === null) return false
    try {
      const snapshot = await fetch(coin, atLeast).catch(() => null)
      if (!snapshot) return false
      this.#sizes.set(coin, snapshot.text.length)
      const untilMs = clock.nowMs + ROUND_MS
      for (;;) {
        const waiter = this.#nextWaiter((one) => one.coin === coin)
        if (!waiter || clock.nowMs > untilMs) return true
        if (!deliver(waiter, snapshot)) return false
        this.#onServed(waiter)
        await wait(Math.ceil(snapshot.text.length / BYTES_PER_MS))
      }
    } finally {
      stopRecording(coin)
    }
  }

  /** Moves the account of a served waiter to the end. */
  #onServed(waiter: G): void {
    const resolve = this.#remove(waiter)
    const queue = this.#queues.get(waiter.account)
    this.#queues.delete(waiter.account)
    if (queue) this.#queues.set(waiter.account, queue)
    resolve?.(true)
  }
}
