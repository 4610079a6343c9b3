// The specification's book bootstrap (rules 1 to 6) for one coin, as a state machine without I/O:
// buffer batches, take the snapshot, drop what it holds, require one epoch, an unbroken prev_seq and, of changes that have
// one, the checksum.
// Law: a live book equals the server's book at (epoch, seq). Whatever is doubtful is fetched again.

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
  /** Of the book after it; undefined where the stream has none. */
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
 * `refetch`: the book is out of step and needs a snapshot whose request is sent from now on; `differs`: so it does, because
 * a checksum is not its own.
 */
export type BatchOutcome = 'applied' | 'buffered' | 'dropped' | 'refetch' | 'differs'

/** More than a minute of the busiest coin; beyond it the oldest go, and rule 5 notices if they were needed. */
const BUFFER_MAX = 1_024

interface BufferedBatch {
  readonly head: BatchHead
  readonly change: CoinChange | null
}

export class CoinBook {
  readonly coin: string
  #book: LevelBook | null = null
  epoch = ''
  /** Height of the block that last changed the coin. */
  seq = -1
  /** Height up to which the book is known to hold: of the snapshot or of the last change. */
  height = -1
  /** Time of the block at `height`, ms. */
  time = 0
  /** Batches of the stream's latest epoch alone: a replaced epoch never returns. */
  #buffer: BufferedBatch[] = []
  /** How many of the buffer had come before the snapshot was asked for. */
  #beforeFetch = 0
  why = 'not fetched yet'
  /** Changes after which the book had the checksum that came with them. */
  checks = 0

  constructor(coin: string) {
    this.coin = coin
  }

  /** False: no book, or one that is out of step (then `why` says the reason). */
  get live(): boolean {
    return this.#book !== null
  }
  /** Best first, `depth` levels a side; both sides empty while not live. */
  levels(depth?: number): Levels {
    return this.#book?.levels(depth) ?? [[], []]
  }

  /** The stream was lost: nothing that was buffered or known is continuous any more. */
  lost(why: string): void {
    this.#forget(why)
    this.#buffer = []
  }

  /** A snapshot is being asked for now: what is buffered up to here came before it. */
  fetchStarted(): void {
    this.#beforeFetch = this.#buffer.length
  }

  /** A batch of the stream; `change` is null where it does not speak of this coin. */
  batch(head: BatchHead, change: CoinChange | null): BatchOutcome {
    const book = this.#book
    if (!book) return this.#bufferBatch(head, change)
    if (head.epoch !== this.epoch) return this.#restart(`epoch changed to ${head.epoch}`, head, change)
    if (change === null || head.height <= this.height) return 'dropped'
    if (change.prevSeq !== this.seq)
      return this.#restart(`gap: prev_seq ${change.prevSeq} follows seq ${this.seq}`, head, change)
    const wrong = this.#apply(book, head, change)
    if (wrong === null) return 'applied'
    this.#restart(wrong, head, change)
    return 'differs'
  }

  /** The snapshot that was asked for; `refetch` and `differs` where the rules refuse it. */
  snapshot(snapshot: Snapshot): 'live' | 'refetch' | 'differs' {
    const later = this.#buffer.filter(
      (batch, at) =>
        batch.head.height > snapshot.height || (at >= this.#beforeFetch && batch.head.epoch !== snapshot.epoch),
    )
    const foreign = later.find((batch) => batch.head.epoch !== snapshot.epoch)
    if (foreign) return this.#rejectSnapshot(`snapshot of epoch ${snapshot.epoch}, stream of ${foreign.head.epoch}`)
    const book = LevelBook.of(snapshot.levels)
    this.#seed(book, snapshot)
    for (const { head, change } of later) {
      if (change === null) continue
      if (change.prevSeq !== this.seq)
        return this.#rejectSnapshot(`gap: prev_seq ${change.prevSeq} follows seq ${this.seq}`)
      const wrong = this.#apply(book, head, change)
      if (wrong === null) continue
      this.#forget(wrong)
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

  /** Null, or what tells that the book is not the server's now. */
  #apply(book: LevelBook, head: BatchHead, { seq, levels, checksum }: CoinChange): string | null {
    book.apply(levels)
    this.seq = seq
    this.height = head.height
    this.time = head.time
    if (checksum === undefined) return null
    const own = bookChecksum(book)
    if (own !== checksum) return `checksum ${own} at seq ${seq}, the server has ${checksum}`
    this.checks++
    return null
  }

  #bufferBatch(head: BatchHead, change: CoinChange | null): 'buffered' {
    const last = this.#buffer.at(-1)
    if (last && last.head.epoch !== head.epoch) this.#buffer = []
    // Of batches without this coin only the latest matters, for its epoch.
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
