// Who is handed a Snapshot of orders next. One such may be as large as all else of a relay together, so there is one text
// at a time, or a few small ones. Laws: accounts take turns, however many sockets each has; a text is for all who wait for
// its coin and may be sent it now; who may not, or whose coin is not there, keeps nobody waiting.

import { BoundedMap } from '../../core/bounded-map.ts'
import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { AccountId } from '../../core/ids.ts'
import type { OrdersPosition } from '../../order-books/l4/followed-orders.ts'
import type { PacedReceiver } from '../events/event-frames.ts'
import type { Clock } from '../sockets/connection.ts'

/** After so long there may be room, or the book of a coin. */
const POLL_MS = 250
/** A text is handed round for so long; who comes later is handed another. */
const ROUND_MS = 1000
/** Bytes that a relay copies into its sockets in a millisecond, at most. */
const BYTES_PER_MS = 48 * 1024
const MAX_SIZES = 1024
/** After a gap hundreds of coins are waited for: so many that were this small are fetched at once. */
const MAX_SMALL_IN_FLIGHT = 16
const SMALL_CHARS = 256 * 1024

export interface SnapshotWaiter {
  readonly account: AccountId
  readonly coin: Coin
  readonly receiver: PacedReceiver
}

/** A Snapshot of a height, as it is sent. */
export interface SnapshotText {
  readonly position: OrdersPosition
  readonly text: string
}

interface SnapshotQueuePorts<G> {
  readonly clock: Clock
  wait(ms: number): Promise<void>
  /** Begins to keep what goes out of a coin: the lowest height of use, null for none. */
  startRecording(coin: Coin): number | null
  stopRecording(coin: Coin): void
  /** Null where the book is not there now. */
  fetch(coin: Coin, atLeast: number): Promise<SnapshotText | null>
  /** False where the text is of no use any more. */
  deliver(guest: G, whole: SnapshotText): boolean
}

export class SnapshotQueue<G extends SnapshotWaiter> {
  readonly #ports: SnapshotQueuePorts<G>
  /** Who waits, by account; the account that had its turn last stands last. */
  readonly #queues = new Map<string, Map<G, (isServed: boolean) => void>>()
  /** How large the Snapshot of a coin was. */
  readonly #sizes = new BoundedMap<string, number>(MAX_SIZES)
  /** Coins that are not there, with when they are asked for again. */
  readonly #absent = new BoundedMap<string, number>(MAX_SIZES)
  #isServing = false

  constructor(ports: SnapshotQueuePorts<G>) {
    this.#ports = ports
  }

  /** Resolves when the guest was handed its Snapshot; false where it left before. */
  enter(guest: G): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    getOrCreate(this.#queues, guest.account, () => new Map()).set(guest, resolve)
    if (!this.#isServing) void this.#serve()
    return promise
  }

  /** Harmless for one that does not wait. */
  leave(guest: G): void {
    this.#remove(guest)?.(false)
  }

  #remove(guest: G): ((isServed: boolean) => void) | undefined {
    const line = this.#queues.get(guest.account)
    const resolve = line?.get(guest)
    line?.delete(guest)
    if (line?.size === 0) this.#queues.delete(guest.account)
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

  /** The coin, and where it is a small one others that are. */
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

  /** One that was never fetched may be large. */
  #isSmall(coin: Coin): boolean {
    return (this.#sizes.get(coin) ?? Number.POSITIVE_INFINITY) <= SMALL_CHARS
  }

  #isPresent({ coin }: G): boolean {
    return (this.#absent.get(coin) ?? 0) <= this.#ports.clock.nowMs
  }

  /** The first of those who may be sent their Snapshot now. */
  #nextWaiter(isMeant: (guest: G) => boolean): G | undefined {
    // A guest for whom there is never room leaves while it is looked at.
    for (const line of [...this.#queues.values()])
      for (const guest of [...line.keys()])
        if (isMeant(guest) && guest.receiver.snapshotWaitMs(this.#sizes.get(guest.coin) ?? 0) === 0) return guest
    return undefined
  }

  /** Hands a coin's Snapshot round; false where it was not there. */
  async #round(coin: Coin): Promise<boolean> {
    const { clock, startRecording, stopRecording, fetch, deliver, wait } = this.#ports
    const atLeast = startRecording(coin)
    if (atLeast === null) return false
    try {
      const whole = await fetch(coin, atLeast).catch(() => null)
      if (!whole) return false
      this.#sizes.set(coin, whole.text.length)
      const untilMs = clock.nowMs + ROUND_MS
      for (;;) {
        const guest = this.#nextWaiter((one) => one.coin === coin)
        if (!guest || clock.nowMs > untilMs) return true
        if (!deliver(guest, whole)) return false
        this.#onServed(guest)
        await wait(Math.ceil(whole.text.length / BYTES_PER_MS))
      }
    } finally {
      stopRecording(coin)
    }
  }

  /** Its account stands last from now on. */
  #onServed(guest: G): void {
    const resolve = this.#remove(guest)
    const line = this.#queues.get(guest.account)
    this.#queues.delete(guest.account)
    if (line) this.#queues.set(guest.account, line)
    resolve?.(true)
  }
}
