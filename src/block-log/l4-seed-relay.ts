// Relays all resting orders of a coin from a feeder to the object of its order-level book. Invariants: parts are
// forwarded as they arrive, from one feeder at a time; a request stays open, even if the feeder changes, until its last
// part has arrived; nothing is requested while blocks lack the rows that must follow it.

import type { Coin } from '../core/coin.ts'
import type { L4Rows } from '../protocol/feed/block.ts'
import type { GatewayFrame, L4Book } from '../protocol/feed/protocol.ts'

/** A feeder that can be asked. */
interface Feeder {
  readonly name: string
  send(frame: GatewayFrame): void
}

export class L4SeedRelay {
  readonly #forward: (coin: Coin, text: string) => void
  readonly #feeders: (coin: Coin) => readonly Feeder[]
  /** Requested coins, with the feeder whose parts are arriving; null before the first part. */
  readonly #requested = new Map<string, string | null>()

  /** Coins whose rows do not fit the orders. */
  readonly #wrong = new Set<string>()
  /** Coins that had rows in the last block, and coins to request once a block has their rows. */
  #known: ReadonlySet<string> = new Set()
  readonly #due = new Set<string>()

  /** `forward` sends a part to the reader of the coin; `feeders` returns the feeders to ask for it. */
  constructor(forward: (coin: Coin, text: string) => void, feeders: (coin: Coin) => readonly Feeder[]) {
    this.#forward = forward
    this.#feeders = feeders
  }

  /** Requests a coin, even if it was already requested. Only wanted coins are requested, which are few. */
  request(coin: Coin, isWrong: boolean): void {
    if (isWrong) this.#wrong.add(coin)
    this.#requested.set(coin, null)
    this.#due.add(coin)
    this.#requestDue()
  }

  #requestDue(): void {
    for (const coin of this.#due) {
      if (!this.#known.has(coin)) continue
      this.#due.delete(coin)
      for (const feeder of this.#feeders(coin)) feeder.send({ type: 'l4Reseed', coins: [coin] })
    }
  }

  /** Rows of the next block, except those of coins whose rows did not fit. */
  acceptRows(rows: readonly L4Rows[] = []): L4Rows[] {
    const accepted = rows.filter(({ coin }) => !this.#wrong.has(coin))
    this.#wrong.clear()
    this.#known = new Set(accepted.map(({ coin }) => coin))
    this.#requestDue()
    return accepted
  }

  /** Repeats open requests to a feeder that joined. */
  onFeederJoined(feeder: Feeder): void {
    if (this.#requested.size > 0) feeder.send({ type: 'l4Reseed', coins: [...this.#requested.keys()] })
  }

  /** Requests the parts that a departed feeder did not send from the other feeders. */
  onFeederLeft({ name }: Pick<Feeder, 'name'>): void {
    for (const [coin, from] of this.#requested) if (from === null || from === name) this.request(coin, false)
  }

  /** Forwards a part. `text`: its frame as a string. */
  onPart({ name }: Pick<Feeder, 'name'>, { coin, part, parts }: L4Book, text: string): void {
    const from = this.#requested.get(coin)
    if (from === undefined || (from ?? name) !== name || (from === null && part > 0)) return
    if (part + 1 < parts) this.#requested.set(coin, name)
    else this.#requested.delete(coin)
    this.#forward(coin, text)
  }

  clear(): void {
    this.#requested.clear()
    this.#wrong.clear()
    this.#due.clear()
  }
}
