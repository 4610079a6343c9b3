// Whole orders of coins, on their way from a feeder to the objects of their order-level books. Laws: parts are handed on as
// they come, of one feeder at a time; what was asked for is asked of feeders that come later, until it has come.

import type { L4Rows } from './block.ts'
import type { GatewayFrame, L4Book } from './protocol.ts'

/** One that can be asked. */
interface Feeder {
  readonly name: string
  send(frame: GatewayFrame): void
}

export class L4Seeds {
  readonly #handOn: (coin: string, text: string) => void
  /** Coins that are asked for, with the feeder whose parts come; null before the first. */
  readonly #asked = new Map<string, string | null>()

  /** Coins whose rows do not fit. */
  readonly #wrong = new Set<string>()

  /** `handOn` sends a part to whoever reads the coin. */
  constructor(handOn: (coin: string, text: string) => void) {
    this.#handOn = handOn
  }

  /** Asks for a coin, anew where it was asked for before. Only of wanted coins, of which there are few. */
  ask(coin: string, isWrong: boolean, feeder: Feeder | undefined): void {
    if (isWrong) this.#wrong.add(coin)
    this.#asked.set(coin, null)
    feeder?.send({ type: 'l4Reseed', coins: [coin] })
  }

  /** Rows of a block, without those that do not fit what came before. */
  trusted(rows: readonly L4Rows[] = []): L4Rows[] {
    const trusted = rows.filter(({ coin }) => !this.#wrong.has(coin))
    this.#wrong.clear()
    return trusted
  }

  /** A feeder has come. */
  greeted(feeder: Feeder): void {
    if (this.#asked.size > 0) feeder.send({ type: 'l4Reseed', coins: [...this.#asked.keys()] })
  }

  /** A part came, as `text`. */
  take({ name }: Pick<Feeder, 'name'>, { coin, part, parts }: L4Book, text: string): void {
    const from = this.#asked.get(coin)
    if (from === undefined || (from ?? name) !== name || (from === null && part > 0)) return
    if (part + 1 < parts) this.#asked.set(coin, name)
    else this.#asked.delete(coin)
    this.#handOn(coin, text)
  }

  clear(): void {
    this.#asked.clear()
    this.#wrong.clear()
  }
}
