// The lines of a checkpoint. Invariant: the same books always produce the same lines.

import type { Coin } from '../../core/coin.ts'
import type { ArchivedCheckpoint } from './archive-read.ts'

/** The first line without the members, and one line per book. */
export interface CheckpointLines {
  readonly head: ArchivedCheckpoint & { readonly coins: number }
  readonly lines: readonly string[]
}

interface KnownBooks extends ArchivedCheckpoint {
  coins(): readonly Coin[]
  /** `levels`: JSON. */
  snapshot(coin: Coin): { readonly seq: number; readonly levels: string } | null
}

/** `levels`: JSON. */
export function bookLine(coin: Coin, height: number, seq: number, levels: string): string {
  return `{"coin":${JSON.stringify(coin)},"height":${height},"seq":${seq},"levels":${levels}}`
}

/** All books at one height. */
export function checkpointLines(books: KnownBooks): CheckpointLines {
  const { epoch, height, time } = books
  const lines = books
    .coins()
    .toSorted()
    .flatMap((coin) => {
      const book = books.snapshot(coin)
      return book ? [bookLine(coin, height, book.seq, book.levels)] : []
    })
  return { head: { epoch, height, time, coins: lines.length }, lines }
}
