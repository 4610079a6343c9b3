// Interface of the writers of export formats.

import type { Coin } from '../../core/coin.ts'
import type { TapeEvent } from './book-tape.ts'

export const EXPORT_FORMATS = ['parquet', 'hftbacktest', 'nautilus'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A coin and the UTC day of a file. */
export interface CoinDay {
  readonly coin: Coin
  /** `YYYY-MM-DD`. */
  readonly day: string
}

/** Writes the events of a coin and day. Invariant: a file has its final name only once it is complete. */
export interface BookFile {
  add(event: TapeEvent): void
  /** Completes the file and returns its path and number of rows. */
  finish(): Promise<{ readonly path: string; readonly rows: number }>
  /** Removes the incomplete file. */
  discard(): void
}

/** Name of a coin in a path. Coins may contain `:`, which some file systems reject. */
export const coinPath = (coin: Coin): string => encodeURIComponent(coin)
