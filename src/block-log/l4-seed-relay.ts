// Relays all resting orders of a coin from a feeder to the object of the coin's order-level book. Invariants: parts are
// forwarded as they arrive, from one feeder at a time; a request stays open until its last part has arrived, even if
// the feeder changes; a coin is not requested while blocks lack its rows, because the rows must follow the orders.

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
  /** Requested coins, with the feeder whose parts are arriving; the feeder is null before the first part. */
  readonly #requested = new Map<string, string | null>()

  /** Coins whose rows do not match the orders. */
  readonly #wrong = new Set<string>()
  /** Coins that had rows in the last block. */
  #known: ReadonlySet<string> = new Set()
  readonly #due = new Set<string>()

  /** `forward` sends a part to the reader of the coin. `feeders` returns the feeders to ask for the coin. */
  constructor(forward: (coin: Coin, text: string) => void, feeders: (coin: Coin) => readonly Feeder[]) {
    this.#forward = forward
    this.#feeders = feeders
  }

  /** Requests a coin, even if it was already requested. Requests are few, because readers want only few coins. */
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

  /** Returns the rows of the next block, except those of coins whose rows did not match. */
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

  /** Requests the parts that a departed feeder has not sent from the other feeders. */
  onFeederLeft({ name }: Pick<Feeder, 'name'>): void {
    for (const [coin, from] of this.#requested) if (from === null || from === name) this.request(coin, false)
  }

  /** Forwards a part. `text`: the part's frame as a string. */
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
