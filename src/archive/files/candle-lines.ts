// Candles in files: of each coin one-minute candles as lines of a key, and for whoever asks for many of them, longer ones that
// are made as files of days are. Law: what a file has of a candle is the part of its own blocks, so that files joined are the
// candles, wherever they are cut.

import type { Coin } from '../../core/coin.ts'
import {
  BASE_INTERVALS,
  type BaseInterval,
  CandleFold,
  type CandlePart,
  partOf,
  partsOfRows,
  rowsOfParts,
  spanOf,
  validTrades,
} from '../candles.ts'
import type { Level } from './levels.ts'
import { type BlockEvents, lineText } from './rows.ts'

const KEY_PREFIX = 'k:'
const SHORTEST = BASE_INTERVALS[0]
/** Of days and months candles of the shortest are in pages alone. */
const LONGER_INTERVALS = BASE_INTERVALS.slice(1)
const INTERVALS_OF_LEVEL: Readonly<Record<Level, readonly BaseInterval[]>> = {
  0: [SHORTEST],
  1: [SHORTEST],
  2: LONGER_INTERVALS,
  3: LONGER_INTERVALS,
}

/** Candles of a coin that the database has, oldest first. */
export interface CandleSeries {
  readonly coin: Coin
  readonly base: BaseInterval
  readonly parts: readonly CandlePart[]
}

export function candleKey(coin: Coin): string {
  return KEY_PREFIX + coin
}

interface Line {
  readonly height: number
  readonly time: number
  readonly fold: CandleFold
}

/** The lines of each key: one for the blocks of a minute that follow one another, under the first that has a trade. */
export function candleLines(blocks: Iterable<BlockEvents>): Map<string, string[]> {
  const byCoin = new Map<string, Line[]>()
  for (const { height, time, fills } of blocks)
    for (const trade of validTrades(fills)) {
      const lines = byCoin.get(trade.coin) ?? []
      byCoin.set(trade.coin, lines)
      const last = lines.at(-1)
      const isOpen = last !== undefined && spanOf(SHORTEST, last.time).t === spanOf(SHORTEST, time).t
      const line = isOpen ? last : { height, time, fold: new CandleFold(SHORTEST) }
      if (!isOpen) lines.push(line)
      line.fold.add(partOf(trade, SHORTEST))
    }
  const textsOf = (lines: readonly Line[]) =>
    lines.map(({ height, time, fold: { candles } }) => {
      return lineText({ height, time, rows: candles.length }, JSON.stringify(rowsOfParts(candles)))
    })
  return new Map([...byCoin].map(([coin, lines]) => [candleKey(coin), textsOf(lines)]))
}

/** The coin of a key of candles; null of any other. */
export function candleCoinOf(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null
}

export function partsOf(line: string): CandlePart[] {
  return partsOfRows(line.slice(line.indexOf('\t[')))
}

/** What the database is to have of the lines that an object is made of. */
export class CandleRollup {
  readonly #bases: readonly BaseInterval[]
  readonly #coins = new Map<string, readonly (readonly [BaseInterval, CandleFold])[]>()

  constructor(level: Level) {
    this.#bases = INTERVALS_OF_LEVEL[level]
  }

  /** Lines of keys in the order of heights; what are no candles is left out. */
  add(key: string, lines: readonly string[]): void {
    const coin = candleCoinOf(key)
    if (coin === null) return
    const folds = this.#coins.get(coin) ?? this.#bases.map((base) => [base, new CandleFold(base)] as const)
    this.#coins.set(coin, folds)
    for (const line of lines) for (const part of partsOf(line)) for (const [, fold] of folds) fold.add(part)
  }

  finish(): CandleSeries[] {
    return [...this.#coins].flatMap(([coin, folds]) =>
      folds.map(([base, fold]) => ({ coin, base, parts: fold.candles })),
    )
  }
}
