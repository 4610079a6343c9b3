// Keeps the order books in step with the chain, and repairs them from the node's snapshots.
// Law: books are either known, exactly as of `height`, or null; a snapshot of another height is brought to ours
// (older: with the diffs kept since; newer: it waits until we are there) and only then taken or compared.

import type { BookChange } from '../feed/block.ts'
import type { OrderBooks } from './order-books.ts'
import { type RawDiff, readRawDiff } from './raw-diff.ts'
import { RecentDiffs } from './recent-diffs.ts'

/** Books that a node reported as they stood after block `height`. */
export interface SnapshotBooks {
  readonly height: number
  readonly books: OrderBooks
}

/** A block that was passed: its height and the node's text of its time. */
export interface Place {
  readonly height: number
  readonly time: string
}

export class BookKeeper {
  #books: OrderBooks | null = null
  #place: Place | null = null
  #ahead: SnapshotBooks | null = null
  #repaired: 'all' | Set<string> = new Set()
  #earlierMisfits = 0
  /** Coins whose levels differed from the node's snapshot, since the start. */
  drifted = 0
  readonly #recent: RecentDiffs

  constructor(recent: RecentDiffs = new RecentDiffs()) {
    this.#recent = recent
  }

  get books(): OrderBooks | null {
    return this.#books
  }

  /** The block processed last, null before the first. */
  get place(): Place | null {
    return this.#place
  }

  /** Diffs that did not fit their book, since the start. */
  get misfits(): number {
    return this.#earlierMisfits + (this.#books?.misfits ?? 0)
  }

  /** True while a snapshot of the node is needed: books unknown, or a coin suspect. */
  get wantsSnapshot(): boolean {
    return this.#ahead === null && (this.#books === null || this.#books.suspects.size > 0)
  }

  /** Stands after the block `place` with `books`, or with unknown ones. */
  begin(place: Place | null, books: OrderBooks | null): void {
    this.#replace(books)
    this.#place = place
    this.#ahead = null
    this.#recent.clear()
    this.#repaired = new Set()
  }

  /** Passes a block whose diffs are `events`; answers its net level changes, null while books are unknown. */
  advance(place: Place, events: readonly unknown[]): BookChange[] | null {
    const diffs: RawDiff[] = []
    for (const event of events) {
      const diff = readRawDiff(event)
      if (diff) diffs.push(diff)
      else this.#books?.doubt(coinOf(event))
    }
    this.#place = place
    this.#recent.push(place.height, diffs)
    let changes: BookChange[] | null = null
    if (this.#books) {
      for (const diff of diffs) this.#books.apply(diff)
      changes = this.#books.endBlock()
    }
    this.#meet()
    return changes
  }

  /** Passes a block whose diffs are missing: the books are unknown from here on. */
  lose(place: Place): void {
    this.#replace(null)
    this.#place = place
    this.#recent.clear()
    this.#meet()
  }

  /** Hands in a snapshot; false where it is too old to be brought to our height. The books given are taken over. */
  offer(snapshot: SnapshotBooks): boolean {
    const place = this.#place
    if (place === null || snapshot.height > place.height) {
      this.#ahead = snapshot
      return true
    }
    if (snapshot.height < place.height) {
      const blocks = this.#recent.after(snapshot.height)
      if (!blocks) return false
      for (const diffs of blocks) {
        for (const diff of diffs) snapshot.books.apply(diff)
        snapshot.books.endBlock()
      }
    }
    this.#take(snapshot.books)
    return true
  }

  /** What was repaired since the last call and has to be told to the gateway; null where nothing was. */
  takeRepaired(): 'all' | string[] | null {
    const repaired = this.#repaired
    this.#repaired = new Set()
    if (repaired === 'all') return 'all'
    return repaired.size > 0 ? [...repaired] : null
  }

  #meet(): void {
    const ahead = this.#ahead
    if (!ahead || !this.#place || this.#place.height < ahead.height) return
    this.#ahead = null
    this.offer(ahead)
  }

  #take(books: OrderBooks): void {
    if (!this.#books) {
      this.#replace(books)
      this.#repaired = 'all'
      return
    }
    const differing = this.#books.differing(books)
    this.drifted += differing.length
    // Levels that agree can hide orders that do not: a suspect coin is taken over in any case.
    for (const coin of new Set([...this.#books.suspects, ...differing])) {
      this.#books.adopt(coin, books)
      if (this.#repaired !== 'all') this.#repaired.add(coin)
    }
  }

  #replace(books: OrderBooks | null): void {
    this.#earlierMisfits += this.#books?.misfits ?? 0
    this.#books = books
  }
}

function coinOf(event: unknown): string | null {
  const coin = (event as { coin?: unknown } | null)?.coin
  return typeof coin === 'string' ? coin : null
}
