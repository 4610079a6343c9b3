// What readers of the files see of candles. Types alone.

import type { Interval } from '../core/candle-interval.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import type { CandleParts } from './candle-fold.ts'

/** Unix ms, both ends included. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** From the first millisecond of a candle to the last one of another, or of the same. */
export interface CandlesRequest extends TimeSpan {
  readonly coin: string
  readonly interval: Interval
  /** Reading ends once so many are told whole. */
  readonly limit: number
}

/** As of one moment. */
export interface FiledCandles {
  /** In any order; of longer candles, too. */
  readonly parts: readonly CandleParts[]
  /** Those that end before this time are told; null: all. */
  readonly untilMs: number | null
  /** The first and the last block of the files. */
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  /** Times within which trades may be missing. */
  readonly holes: readonly TimeSpan[]
  /** The first block behind the last height that no file has. */
  readonly since: HeightAndTime
}
