// Texts of the book channels, concatenated from the hubs' pre-encoded fragments.
// Law: levels are never parsed, and a coin's piece is built once per block however many bodies have the coin.

import type { BookSnapshot } from '../book/hub-api.ts'
import type { Emission, Entry } from './books/block-join.ts'

/** Frames of one block for one body. `broken`: a coin lost its continuity, and this channel cannot begin it again. */
export interface BlockTexts {
  readonly texts: readonly string[]
  readonly broken: boolean
}

/** The first message of a coin on `l2BookDiff`. */
export function snapshotText({ coin, time, height, levels }: Omit<BookSnapshot, 'epoch' | 'seq'>): string {
  return `{"channel":"l2BookDiff","data":{"Snapshot":{"coin":${JSON.stringify(coin)},"time":${time},"block_height":${height},"levels":${levels}}}}`
}

/** `l2BookDiff`: a coin's first book is its Snapshot, changes of the others go out as one Updates. */
export function diffTexts({ height, time, entries }: Emission): BlockTexts {
  const texts: string[] = []
  let pieces = ''
  let broken = false
  for (const entry of entries) {
    if (entry.mark === '!') broken = true
    else if (entry.mark === '+') texts.push(snapshotText({ coin: entry.coin, time, height, levels: entry.levels }))
    else pieces += pieces ? `,${diffPiece(entry)}` : diffPiece(entry)
  }
  if (pieces) {
    texts.push(
      `{"channel":"l2BookDiff","data":{"Updates":{"time":${time},"block_height":${height},"book_diffs":[${pieces}]}}}`,
    )
  }
  return { texts, broken }
}

/** `l2BookDiff2`: one Updates with every mark; the client sees lost continuity as a `prev_seq` that it does not hold. */
export function diff2Text({ height, time, epoch, entries }: Emission): string {
  const pieces = entries.map((entry) => diff2Piece(entry, height)).join(',')
  return `{"channel":"l2BookDiff2","data":{"Updates":{"time":${time},"block_height":${height},"epoch":${JSON.stringify(epoch ?? '')},"cursor":"${height}","book_diffs":[${pieces}]}}}`
}

function diffPiece(entry: Entry): string {
  entry.diffText ??= `{"coin":${JSON.stringify(entry.coin)},"levels":${entry.levels}}`
  return entry.diffText
}

function diff2Piece(entry: Entry, height: number): string {
  entry.diff2Text ??= `{"coin":${JSON.stringify(entry.coin)},"seq":${height},"prev_seq":${entry.prevSeq},"levels":${entry.levels}}`
  return entry.diff2Text
}
