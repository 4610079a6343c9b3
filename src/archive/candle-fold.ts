// Parts of candles into candles. Laws: parts may come cut anywhere, and whatever is cut gives the candles of all trades at once;
// of parts of one candle those of lower blocks are its earlier ones.

import type { Interval } from '../core/candle-interval.ts'
import { UNSIGNED_DECIMAL } from '../core/decimal.ts'
import type { UserFill } from '../protocol/feed/block.ts'
import { type Trade, tradesOf } from '../protocol/feed/trades.ts'
import { type CandlePart, joinedParts, spanOf } from './candles.ts'

/** Parts of candles, the first of which has trades of block `height`. */
export interface CandleParts {
  readonly height: number
  readonly parts: readonly CandlePart[]
}

export class CandleFold {
  readonly #interval: Interval
  readonly #candles = new Map<number, CandlePart>()

  constructor(interval: Interval) {
    this.#interval = interval
  }

  /** In the order of the chain. */
  add(part: CandlePart): void {
    const { t } = spanOf(this.#interval, part.t)
    const known = this.#candles.get(t)
    this.#candles.set(t, known ? joinedParts(known, part) : { ...part, t })
  }

  /** Oldest first. */
  get candles(): CandlePart[] {
    return [...this.#candles.values()].sort((a, b) => a.t - b.t)
  }
}

/** Candles of parts that come in any order. */
export function foldedCandles(parts: readonly CandleParts[], interval: Interval): CandlePart[] {
  const fold = new CandleFold(interval)
  for (const some of [...parts].sort((a, b) => a.height - b.height)) for (const part of some.parts) fold.add(part)
  return fold.candles
}

/** Trades that count: amounts that are none have no candle. */
export function countedTrades(fills: readonly UserFill[]): readonly Trade[] {
  return tradesOf(fills).filter(({ px, sz }) => UNSIGNED_DECIMAL.test(px) && UNSIGNED_DECIMAL.test(sz))
}

/** A part as it is stored. */
export type CandleRow = readonly [t: number, o: string, c: string, h: string, l: string, v: string, n: number]

export function rowsOfParts(parts: readonly CandlePart[]): CandleRow[] {
  return parts.map(({ t, o, c, h, l, v, n }) => [t, o, c, h, l, v, n])
}

export function partsOfRows(text: string): CandlePart[] {
  return (JSON.parse(text) as readonly CandleRow[]).map(([t, o, c, h, l, v, n]) => ({ t, o, c, h, l, v, n }))
}
