// Candles in files. One-minute candles are lines, sorted by coin. Longer candles are computed when day files are
// written, so that queries for long periods read few rows. Invariant: a file contains the candle parts of its own
// blocks. Merged files therefore yield the same candles, however the blocks were divided into files.

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
/** Intervals stored in D1 for day and month files. One-minute candles of these files are only in pages. */
const LONGER_INTERVALS = BASE_INTERVALS.slice(1)
const INTERVALS_OF_LEVEL: Readonly<Record<Level, readonly BaseInterval[]>> = {
  0: [SHORTEST],
  1: [SHORTEST],
  2: LONGER_INTERVALS,
  3: LONGER_INTERVALS,
}

/** A coin's candles in the database, oldest first. */
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

/** Lines by key. Each run of consecutive blocks has one line per minute, at the minute's first block with a trade. */
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

/** The coin of a candle key; null for other keys. */
export function candleCoinOf(key: string): string | null {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : null
}

export function partsOf(line: string): CandlePart[] {
  return partsOfRows(line.slice(line.indexOf('\t[')))
}

/** Collects candles for the database from an object's lines. */
export class CandleRollup {
  readonly #bases: readonly BaseInterval[]
  readonly #coins = new Map<string, readonly (readonly [BaseInterval, CandleFold])[]>()

  constructor(level: Level) {
    this.#bases = INTERVALS_OF_LEVEL[level]
  }

  /** Adds lines, which must be in height order. Keys other than candle keys are ignored. */
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
