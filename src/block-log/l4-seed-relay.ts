// Whole orders of coins, on their way from a feeder to the objects of their order-level books. Laws: parts are handed on as
// they come, of one feeder at a time; what was asked for is asked of feeders that come later, and of another where the one
// that was asked has left, until it has come; nothing is asked for while blocks lack the rows that would have to follow it.

import type { Coin } from '../core/coin.ts'
import type { L4Rows } from '../protocol/feed/block.ts'
import type { GatewayFrame, L4Book } from '../protocol/feed/protocol.ts'

/** One that can be asked. */
interface Feeder {
  readonly name: string
  send(frame: GatewayFrame): void
}

export class L4SeedRelay {
  readonly #forward: (coin: Coin, text: string) => void
  readonly #feeders: (coin: Coin) => readonly Feeder[]
  /** Coins that are asked for, with the feeder whose parts come; null before the first. */
  readonly #requested = new Map<string, string | null>()

  /** Coins whose rows do not fit. */
  readonly #wrong = new Set<string>()
  /** Coins whose rows the last block had, and those that are to be asked for once one has. */
  #known: ReadonlySet<string> = new Set()
  readonly #due = new Set<string>()

  /** `handOn` sends a part to whoever reads the coin, `feeders` are those to ask for it. */
  constructor(handOn: (coin: Coin, text: string) => void, feeders: (coin: Coin) => readonly Feeder[]) {
    this.#forward = handOn
    this.#feeders = feeders
  }

  /** Asks for a coin, anew where it was asked for before. Only of wanted coins, of which there are few. */
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

  /** Rows of the next block, without those that do not fit what came before. */
  acceptRows(rows: readonly L4Rows[] = []): L4Rows[] {
    const trusted = rows.filter(({ coin }) => !this.#wrong.has(coin))
    this.#wrong.clear()
    this.#known = new Set(trusted.map(({ coin }) => coin))
    this.#requestDue()
    return trusted
  }

  /** A feeder has come. */
  onFeederJoined(feeder: Feeder): void {
    if (this.#requested.size > 0) feeder.send({ type: 'l4Reseed', coins: [...this.#requested.keys()] })
  }

  /** A feeder has left: what it has not sent whole is asked of others. */
  onFeederLeft({ name }: Pick<Feeder, 'name'>): void {
    for (const [coin, from] of this.#requested) if (from === null || from === name) this.request(coin, false)
  }

  /** A part came, as `text`. */
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
