// Books out of the archive: from the nearest checkpoint, block by block. Law: an answer is of the very height that was asked
// for; where something stands between it and every checkpoint below, that is said; one that is damaged is as none.

import type { Coin } from '../../core/coin.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { ArchivedBook, ArchivedCheckpoint, ArchivedSegment, ArchiveReader } from '../archive/archive-read.ts'
import { ArchiveDamage } from '../archive/archive-read.ts'
import { readBooksLine } from './books-line.ts'
import { type BooksLoss, HistoricalBooks } from './historical-books.ts'

export type BooksArchive = Pick<ArchiveReader, 'segmentsFrom' | 'lines' | 'checkpointAt' | 'books'>

export type BooksUnavailable =
  | BooksLoss
  /** No checkpoint is at or below the height, or those that are cannot be read. */
  | { readonly kind: 'before' | 'damaged' }
  /** The height was not archived yet. */
  | { readonly kind: 'ahead' }

export type BooksResult =
  | { readonly ok: true; readonly books: HistoricalBooks }
  | ({ readonly ok: false } & BooksUnavailable)

/** Objects of the archive that are asked for at once. */
const SEGMENTS_PER_READ = 64
/** Lines read without a rest, which others may wait for: some 4 ms. */
const LINES_PER_TURN = 64

export interface Yielder {
  /** Resolves when others had their turn; rejects where nobody waits for the answer any more. */
  yield(): Promise<void>
}

/** Books of these coins, or all, after block `height`. */
export async function booksAt(
  archive: BooksArchive,
  coins: ReadonlySet<string> | null,
  height: number,
  resting: Yielder,
): Promise<BooksResult> {
  const [held] = await archive.segmentsFrom({ height }, 1)
  if (!held) return { ok: false, kind: 'ahead' }
  let isDamaged = false
  for (let at = await archive.checkpointAt(height); at !== null; at = await archive.checkpointAt(at.height - 1)) {
    const begun = await fromCheckpoint(archive, coins, at).catch(nullIfDamaged)
    // A checkpoint is written coin by coin: some of its books may be from after the height.
    if (begun && begun.completeAt <= height) return rollForward(archive, coins, begun, height, resting)
    isDamaged ||= begun === null
    await resting.yield()
  }
  return { ok: false, kind: isDamaged ? 'damaged' : 'before' }
}

/** The one before will do. */
function nullIfDamaged(error: unknown): null {
  if (error instanceof ArchiveDamage) return null
  throw error
}

/** Books of a checkpoint; null without one. */
export async function fromCheckpoint(
  archive: BooksArchive,
  coins: ReadonlySet<string> | null,
  checkpoint: ArchivedCheckpoint | null,
): Promise<HistoricalBooks | null> {
  if (checkpoint === null) return null
  const books: ArchivedBook[] = []
  for await (const book of archive.books(checkpoint.height, coins)) books.push(book)
  return new HistoricalBooks(checkpoint, books)
}

async function rollForward(
  archive: BooksArchive,
  coins: ReadonlySet<string> | null,
  books: HistoricalBooks,
  height: number,
  resting: Yielder,
): Promise<BooksResult> {
  if (books.height === height) return { ok: true, books }
  let read = 0
  for await (const segment of segmentsFrom(archive, books.height + 1)) {
    try {
      for await (const line of archive.lines(segment, 'books')) {
        books.apply(readBooksLine(line, coins))
        if (books.loss) return { ok: false, ...books.loss }
        if (books.height === height) return { ok: true, books }
        if (++read % LINES_PER_TURN === 0) await resting.yield()
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
      return { ok: false, kind: 'gap', from: Math.max(segment.first, books.height + 1), to: segment.last }
    }
  }
  return { ok: false, kind: 'ahead' }
}

/** From the one with this height on. */
async function* segmentsFrom(archive: BooksArchive, from: number): AsyncGenerator<ArchivedSegment> {
  let next = from
  for (;;) {
    const segments: readonly ArchivedSegment[] = await archive.segmentsFrom({ height: next }, SEGMENTS_PER_READ)
    yield* segments
    const last = segments.at(-1)?.last
    if (last === undefined || last < next) return
    next = last + 1
  }
}

/** One coin's book after block `height`; null where it had none. */
export async function bookAt(
  archive: BooksArchive,
  coin: Coin,
  height: number,
  resting: Yielder,
): Promise<
  { readonly ok: true; readonly snapshot: BookSnapshot | null } | Exclude<BooksResult, { readonly ok: true }>
> {
  const answer = await booksAt(archive, new Set([coin]), height, resting)
  return answer.ok ? { ok: true, snapshot: answer.books.snapshot(coin) } : answer
}
