// Restores books from the archive: starts with the nearest checkpoint and applies block after block. Invariants: the
// books are those of exactly the requested height; if an obstacle lies between that height and every lower checkpoint,
// the obstacle is reported; a damaged checkpoint is skipped.

import type { Coin } from '../../core/coin.ts'
import type { BookSnapshot } from '../../protocol/hub/hub-api.ts'
import type { ArchivedBook, ArchivedCheckpoint, ArchivedSegment, ArchiveReader } from '../archive/archive-read.ts'
import { ArchiveDamage } from '../archive/archive-read.ts'
import { readBooksLine } from './books-line.ts'
import { type BooksLoss, HistoricalBooks } from './historical-books.ts'

export type BooksArchive = Pick<ArchiveReader, 'segmentsFrom' | 'lines' | 'checkpointAt' | 'books'>

export type BooksUnavailable =
  | BooksLoss
  /** There is no readable checkpoint at or below the height. */
  | { readonly kind: 'before' | 'damaged' }
  /** The height is not archived yet. */
  | { readonly kind: 'ahead' }

type Unavailable = { readonly ok: false } & BooksUnavailable
export type BooksResult = { readonly ok: true; readonly books: HistoricalBooks } | Unavailable
type BookResult = { readonly ok: true; readonly snapshot: BookSnapshot | null } | Unavailable

/** Segments per query to D1. */
const SEGMENTS_PER_READ = 64
/** Lines to process (about 4 ms of work) before yielding. */
const LINES_PER_TURN = 64
const NO_COINS: ReadonlySet<string> = new Set()

export interface Yielder {
  /** Resolves after other work has run. Rejects if the request was abandoned. */
  yield(): Promise<void>
}

/** The books after block `height`, of these coins or, if null, of all. */
export async function booksAt(
  archive: BooksArchive,
  coins: ReadonlySet<string> | null,
  height: number,
  yielder: Yielder,
): Promise<BooksResult> {
  const [segment] = await archive.segmentsFrom({ height }, 1)
  if (!segment) return { ok: false, kind: 'ahead' }
  let isDamaged = false
  for (let at = await archive.checkpointAt(height); at !== null; at = await archive.checkpointAt(at.height - 1)) {
    const books = await fromCheckpoint(archive, coins, at).catch(nullIfDamaged)
    // Checkpoints are written coin by coin, so some of their books may be newer than the requested height.
    if (books && books.completeAt <= height) return rollForward(archive, coins, books, height, yielder)
    isDamaged ||= books === null
    await yielder.yield()
  }
  return { ok: false, kind: isDamaged ? 'damaged' : 'before' }
}

/** Makes the caller use the previous checkpoint instead. */
function nullIfDamaged(error: unknown): null {
  if (error instanceof ArchiveDamage) return null
  throw error
}

/** Reads the books of a checkpoint. Returns null if there is no checkpoint. */
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
  yielder: Yielder,
): Promise<BooksResult> {
  if (books.height === height) return { ok: true, books }
  let read = 0
  for await (const segment of segmentsFrom(archive, books.height + 1)) {
    try {
      for await (const line of archive.lines(segment, 'books')) {
        books.apply(readBooksLine(line, coins))
        if (books.loss) return { ok: false, ...books.loss }
        if (books.height === height) return { ok: true, books }
        if (++read % LINES_PER_TURN === 0) await yielder.yield()
      }
    } catch (error) {
      if (!(error instanceof ArchiveDamage)) throw error
      return { ok: false, kind: 'gap', from: Math.max(segment.first, books.height + 1), to: segment.last }
    }
  }
  return { ok: false, kind: 'ahead' }
}

/** Yields segments, starting with the one that contains this height. */
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

/**
 * Height of the last block at or before a time. If blocks are missing before the next archived one, the last of them.
 */
async function heightAt(
  archive: BooksArchive,
  timeMs: number,
  yielder: Yielder,
): Promise<{ readonly ok: true; readonly height: number } | Unavailable> {
  const [segment] = await archive.segmentsFrom({ timeMs }, 1)
  if (!segment) return { ok: false, kind: 'ahead' }
  let height = segment.first - 1
  if (timeMs < segment.firstMs) return { ok: true, height }
  let read = 0
  try {
    for await (const line of archive.lines(segment, 'books')) {
      const block = readBooksLine(line, NO_COINS)
      if (block.time > timeMs) break
      height = block.height
      if (++read % LINES_PER_TURN === 0) await yielder.yield()
    }
  } catch (error) {
    if (!(error instanceof ArchiveDamage)) throw error
    return { ok: false, kind: 'gap', from: segment.first, to: segment.last }
  }
  return { ok: true, height }
}

/** A coin's book after block `height`; null if there is none. */
export async function bookAt(archive: BooksArchive, coin: Coin, height: number, yielder: Yielder): Promise<BookResult> {
  return bookOf(await booksAt(archive, new Set([coin]), height, yielder), coin)
}

/** A coin's book after the last block at or before a time; null if there is none. */
export async function bookAtTime(
  archive: BooksArchive,
  coin: Coin,
  timeMs: number,
  yielder: Yielder,
): Promise<BookResult> {
  const found = await heightAt(archive, timeMs, yielder)
  if (!found.ok) return found
  const coins = new Set([coin])
  let result = await booksAt(archive, coins, found.height, yielder)
  // The checkpoint of a missing block may be newer than the time.
  while (result.ok && result.books.time > timeMs) {
    await yielder.yield()
    result = await booksAt(archive, coins, result.books.height - 1, yielder)
  }
  return bookOf(result, coin)
}

function bookOf(result: BooksResult, coin: Coin): BookResult {
  return result.ok ? { ok: true, snapshot: result.books.snapshot(coin) } : result
}
