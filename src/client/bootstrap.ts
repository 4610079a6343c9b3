// The book bootstrap of the specification (rules 1 to 6) for one coin, as a state machine without I/O. It buffers
// batches, applies the snapshot, and drops batches that the snapshot includes. It requires a constant epoch, continuous
// `prev_seq` values and matching checksums. Invariants: a live book equals the server's book at (epoch, seq); a book
// that may be wrong is fetched again.

import { bookChecksum } from '../order-books/checksum.ts'
import { LevelBook } from '../order-books/level-book.ts'
import type { Levels } from '../protocol/feed/block.ts'

export interface BatchHead {
  readonly epoch: string
  readonly height: number
  readonly time: number
}

export interface CoinChange {
  readonly seq: number
  readonly prevSeq: number
  readonly levels: Levels
  /** Checksum of the book after this change; undefined if the stream has no checksums. */
  readonly checksum?: number | undefined
}

export interface Snapshot {
  readonly coin: string
  readonly epoch: string
  readonly height: number
  readonly time: number
  readonly seq: number
  readonly levels: Levels
}

/**
 * `refetch`: the book is out of step and needs a new snapshot. `differs`: the same, but because a checksum did not
 * match.
 */
export type BatchOutcome = 'applied' | 'buffered' | 'dropped' | 'refetch' | 'differs'

/**
 * Maximum number of buffered batches: more than a minute of the busiest coin. Beyond it, the oldest batches are
 * dropped. If they were needed, rule 5 detects it.
 */
const BUFFER_MAX = 1_024

interface BufferedBatch {
  readonly head: BatchHead
  readonly change: CoinChange | null
}

export class CoinBook {
  readonly coin: string
  #book: LevelBook | null = null
  epoch = ''
  /** Height of the last block that changed the coin. */
  seq = -1
  /** Height up to which the book is current: that of the snapshot or of the last change. */
  height = -1
  /** Time of the block at `height`, in Unix ms. */
  time = 0
  /** Buffered batches, all of the stream's latest epoch. A replaced epoch never returns. */
  #buffer: BufferedBatch[] = []
  /** Number of buffered batches that arrived before the snapshot was requested. */
  #beforeFetch = 0
  why = 'not fetched yet'
  /** Number of matching checksums. */
  checks = 0

  constructor(coin: string) {
    this.coin = coin
  }

  /** Whether the book is in step. If not, `why` has the reason. */
  get live(): boolean {
    return this.#book !== null
  }
  /** `depth` levels per side, best first. Both sides are empty while the book is not live. */
  levels(depth?: number): Levels {
    return this.#book?.levels(depth) ?? [[], []]
  }

  /** Handles the loss of the stream, after which all earlier data is discontinuous. */
  lost(why: string): void {
    this.#forget(why)
    this.#buffer = []
  }

  /** Records that a snapshot is requested now. The batches in the buffer arrived before this request. */
  fetchStarted(): void {
    this.#beforeFetch = this.#buffer.length
  }

  /** Handles a batch of the stream. `change` is null if the batch does not include this coin. */
  batch(head: BatchHead, change: CoinChange | null): BatchOutcome {
    const book = this.#book
    if (!book) return this.#bufferBatch(head, change)
    if (head.epoch !== this.epoch) return this.#restart(`epoch changed to ${head.epoch}`, head, change)
    if (change === null || head.height <= this.height) return 'dropped'
    if (change.prevSeq !== this.seq)
      return this.#restart(`gap: prev_seq ${change.prevSeq} follows seq ${this.seq}`, head, change)
    const mismatch = this.#apply(book, head, change)
    if (mismatch === null) return 'applied'
    this.#restart(mismatch, head, change)
    return 'differs'
  }

  /** Applies the requested snapshot. Returns `refetch` or `differs` if the rules reject it. */
  snapshot(snapshot: Snapshot): 'live' | 'refetch' | 'differs' {
    const later = this.#buffer.filter(
      (batch, index) =>
        batch.head.height > snapshot.height || (index >= this.#beforeFetch && batch.head.epoch !== snapshot.epoch),
    )
    const foreign = later.find((batch) => batch.head.epoch !== snapshot.epoch)
    if (foreign) return this.#rejectSnapshot(`snapshot of epoch ${snapshot.epoch}, stream of ${foreign.head.epoch}`)
    const book = LevelBook.of(snapshot.levels)
    this.#seed(book, snapshot)
    for (const { head, change } of later) {
      if (change === null) continue
      if (change.prevSeq !== this.seq)
        return this.#rejectSnapshot(`gap: prev_seq ${change.prevSeq} follows seq ${this.seq}`)
      const mismatch = this.#apply(book, head, change)
      if (mismatch === null) continue
      this.#forget(mismatch)
      return 'differs'
    }
    this.#buffer = []
    return 'live'
  }

  #seed(book: LevelBook, snapshot: Snapshot): void {
    this.#book = book
    this.epoch = snapshot.epoch
    this.seq = snapshot.seq
    this.height = snapshot.height
    this.time = snapshot.time
  }

  /** Applies a change. Returns the reason why the book does not match the server's book; null if it matches. */
  #apply(book: LevelBook, head: BatchHead, { seq, levels, checksum }: CoinChange): string | null {
    book.apply(levels)
    this.seq = seq
    this.height = head.height
    this.time = head.time
    if (checksum === undefined) return null
    const localChecksum = bookChecksum(book)
    if (localChecksum !== checksum)
      return `checksum ${localChecksum} at seq ${seq} does not match the server's ${checksum}`
    this.checks++
    return null
  }

  #bufferBatch(head: BatchHead, change: CoinChange | null): 'buffered' {
    const last = this.#buffer.at(-1)
    if (last && last.head.epoch !== head.epoch) this.#buffer = []
    // Of the batches without this coin, only the latest is kept, because its epoch matters.
    else if (last && last.change === null && change === null) this.#buffer.pop()
    this.#beforeFetch = Math.min(this.#beforeFetch, this.#buffer.length)
    this.#buffer.push({ head, change })
    if (this.#buffer.length > BUFFER_MAX) {
      this.#buffer.shift()
      this.#beforeFetch = Math.max(0, this.#beforeFetch - 1)
    }
    return 'buffered'
  }

  #restart(why: string, head: BatchHead, change: CoinChange | null): 'refetch' {
    this.#forget(why)
    this.#buffer = [{ head, change }]
    return 'refetch'
  }

  #rejectSnapshot(why: string): 'refetch' {
    this.#forget(why)
    return 'refetch'
  }

  #forget(why: string): void {
    this.#book = null
    this.why = why
    this.#beforeFetch = 0
  }
}
