// The last trades of every coin.

import type { Trade } from '../../feed/trades.ts'
import { tradesOf } from '../../feed/trades.ts'
import type { DevnetBlock } from '../exchange/node-block.ts'
import { Tail } from '../exchange/tail.ts'

/** As many as the public API answers. */
const KEPT = 10

export class Tape {
  readonly #coins = new Map<string, Tail<Trade>>()

  note(fills: DevnetBlock['fills']): void {
    for (const trade of tradesOf(fills)) {
      const tail = this.#coins.get(trade.coin) ?? new Tail<Trade>(KEPT)
      this.#coins.set(trade.coin, tail)
      tail.push(trade)
    }
  }

  /** Newest first. */
  of(coin: string): readonly Trade[] {
    return this.#coins.get(coin)?.toArray().reverse() ?? []
  }
}
