// Continues the archived books through a gap with the changes of another archive. Invariants: all books of the other archive
// equal ours at the last block before the gap, and at our first checkpoint after it if the other archive reaches it; changes are
// used only up to the first block where the books of the other archive are unknown.

import type { ArchivedBook, ArchivedCheckpoint } from '../../archive/archive/archive-read.ts'
import { type CheckpointLines, checkpointLines } from '../../archive/archive/checkpoint-lines.ts'
import { readBooksLine } from '../../archive/replay/books-line.ts'
import { HistoricalBooks } from '../../archive/replay/historical-books.ts'
import { EMPTY_DIGEST } from '../../block-log/level-digest.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { visible } from '../../core/visible.ts'
import { LevelBook } from '../../order-books/level-book.ts'
import type { BookChange } from '../../protocol/feed/block.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'

/** Book changes of consecutive heights, one line per block. */
interface BookSegment {
  readonly first: number
  readonly last: number
  lines(): AsyncIterable<string>
}

/** The head, then one line per book. */
interface BookCheckpoint {
  readonly height: number
  lines(): AsyncIterable<string>
}

/** Both lists are in height order. */
export interface BookArchive {
  readonly segments: readonly BookSegment[]
  readonly checkpoints: readonly BookCheckpoint[]
}

/** Missing heights, inclusive. */
export interface BookGap {
  readonly from: number
  readonly to: number
}

export type BookJoin =
  /** The changes are known up to block `to`. `isVerified`: the books also equal those after the gap. */
  | { readonly kind: 'joined'; readonly to: number; readonly isVerified: boolean }
  /** The books of the gap stay unknown. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'contradiction'; readonly reason: string }

interface RestoredBooks {
  readonly books: HistoricalBooks
  /** The checkpoint from which they were restored. */
  readonly checkpoint: ArchivedCheckpoint
}

/** Checkpoints to try, in case the books of one are newer than the requested height. */
const MAX_CHECKPOINTS = 3

/** All books after a block; null if they are unknown. */
export async function booksAfter(archive: BookArchive, height: number): Promise<RestoredBooks | null> {
  const below = archive.checkpoints.filter((one) => one.height <= height)
  for (const { lines } of below.slice(-MAX_CHECKPOINTS).toReversed()) {
    const { head, books: stored } = await readCheckpoint(lines())
    const books = new HistoricalBooks(head, stored)
    if (books.completeAt > height) continue
    if (books.height < height)
      for await (const block of blocksFrom(archive, books.height + 1))
        if (books.apply(block) === null || block.height === height) break
    return books.loss === null && books.height === height ? { books, checkpoint: head } : null
  }
  return null
}

async function readCheckpoint(lines: AsyncIterable<string>) {
  let head: ArchivedCheckpoint | null = null
  const books: ArchivedBook[] = []
  for await (const line of lines) {
    if (head === null) head = JSON.parse(line) as ArchivedCheckpoint
    else books.push(JSON.parse(line) as ArchivedBook)
  }
  if (head === null) throw new Error('a checkpoint is empty')
  return { head, books }
}

async function* blocksFrom({ segments }: BookArchive, from: number): AsyncGenerator<HubBlock> {
  for (const { last, lines } of segments) {
    if (last < from) continue
    for await (const line of lines()) {
      const block = readBooksLine(line, null)
      if (block.height >= from) yield block
    }
  }
}

/** Compares the books of another archive with ours on both sides of a gap. */
export async function joinBooks(own: BookArchive, other: BookArchive, { from, to }: BookGap): Promise<BookJoin> {
  const ours = (await booksAfter(own, from - 1))?.books
  if (ours === undefined) return { kind: 'unknown', reason: `the archived books of block ${from - 1} are unknown` }
  const theirs = (await booksAfter(other, from - 1))?.books
  if (theirs === undefined) return { kind: 'unknown', reason: `it does not have the books of block ${from - 1}` }
  const difference = differenceOf(ours, theirs)
  if (difference !== null) return difference
  const after = await digestsAfter(own, to)
  let known = from - 1
  for await (const block of changesFrom(other, from, theirs.epoch)) {
    if (ours.apply({ ...block, epoch: ours.epoch }) === null) break
    known = block.height
    const wrong = after.of.get(known)?.find(([coin, digest]) => digestOf(ours, coin) !== digest)
    if (wrong)
      return { kind: 'contradiction', reason: differenceText(wrong[0], known, 'so its changes before are wrong') }
    if (known >= Math.max(to, after.last)) break
  }
  if (known < from) return { kind: 'unknown', reason: `it does not have the changes of the books of block ${from}` }
  return { kind: 'joined', to: Math.min(known, to), isVerified: after.of.size > 0 && known >= after.last }
}

/** Blocks of an unbroken chain, starting with block `from`. */
async function* changesFrom(archive: BookArchive, from: number, epoch: string): AsyncGenerator<HubBlock> {
  let next = from
  for await (const block of blocksFrom(archive, from)) {
    if (block.height !== next || block.epoch !== epoch || block.books === null || block.repaired) return
    yield block
    next++
  }
}

function differenceOf(ours: HistoricalBooks, theirs: HistoricalBooks): BookJoin | null {
  for (const coin of new Set([...ours.coins(), ...theirs.coins()])) {
    if (digestOf(ours, coin) === digestOf(theirs, coin)) continue
    const { height } = ours
    // A checkpoint has no books that were not verified when it was written.
    if (!ours.bookOf(coin)) return { kind: 'unknown', reason: `the archive lacks the book of ${visible(coin)}` }
    if (!theirs.bookOf(coin)) return { kind: 'unknown', reason: `it lacks the book of ${visible(coin)}` }
    return { kind: 'contradiction', reason: differenceText(coin, height, 'before the gap') }
  }
  return null
}

const digestOf = (books: HistoricalBooks, coin: string) => books.bookOf(coin)?.digest ?? EMPTY_DIGEST
const differenceText = (coin: string, height: number, where: string) =>
  `its book of ${visible(coin)} after block ${height} differs from the archived book, ${where}`

/** Digests of the first checkpoint at or after a height, by the height of each book, and the last such height. */
async function digestsAfter({ checkpoints }: BookArchive, height: number) {
  const of = new Map<number, (readonly [coin: string, digest: number])[]>()
  const found = checkpoints.find((one) => one.height >= height)
  const { books } = found ? await readCheckpoint(found.lines()) : { books: [] }
  for (const book of books) {
    const digest = [book.coin, LevelBook.of(book.levels).digest] as const
    of.set(book.height, [...(of.get(book.height) ?? []), digest])
  }
  return { of, last: Math.max(-1, ...of.keys()) }
}

/** A reader of the repaired heights needs at most this much block time of changes. */
const CHECKPOINT_EVERY_MS = 5 * MINUTE_MS

/** The archived books before a gap, with the changes that are sent for the gap. */
export class BookContinuation {
  readonly #books: HistoricalBooks
  readonly #blocks: AsyncGenerator<HubBlock>
  readonly #to: number
  #next: number
  #checkpointMs: number
  /** Blocks whose changes were read and are not sent yet. */
  #unsent: HubBlock[] = []

  /** `to`: the last height whose changes are known. */
  constructor({ books, checkpoint }: RestoredBooks, other: BookArchive, to: number) {
    this.#books = books
    this.#next = books.height + 1
    this.#blocks = blocksFrom(other, this.#next)
    this.#to = to
    this.#checkpointMs = checkpoint.time
  }

  get epoch(): string {
    return this.#books.epoch
  }

  /** The changes of a block; null if they are unknown. Heights must rise. After a skipped height, nothing is known. */
  async changesAt(height: number): Promise<readonly BookChange[] | null> {
    if (height !== this.#next || height > this.#to) return null
    const { value, done } = await this.#blocks.next()
    if (done || value.height !== height) return null
    this.#next++
    this.#unsent.push(value)
    return value.books
  }

  /** Applies the changes up to a block that is sent now. Returns its checkpoint if one is due. */
  advance(height: number): CheckpointLines | null {
    const books = this.#books
    const sent = this.#unsent.filter((block) => block.height <= height)
    this.#unsent = this.#unsent.slice(sent.length)
    for (const block of sent) books.apply({ ...block, epoch: books.epoch })
    if (books.height !== height || slotOf(books.time) === slotOf(this.#checkpointMs)) return null
    this.#checkpointMs = books.time
    return checkpointLines(books)
  }
}

const slotOf = (ms: number): number => Math.floor(ms / CHECKPOINT_EVERY_MS)
