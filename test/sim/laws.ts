// Invariants of a client's subscription, checked after each of its frames.
//
//   events: between `live` and `lost`, or a frame that reports a gap, each comes once, in order, without omissions
//   orders: the same, but some may be missing during a storm: feeders have to learn who wants them
//   tops:   the values are true at their time, which never goes back
//   books:  a changed book is the true one at its height; the other books of its hub are too, or start over soon;
//           a height of an epoch comes once and in order, unless a hub was late, Snapshots come or the epoch is new

import { shardOf } from '../../src/core/coin.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import type { Sequence, Truth } from './truth.ts'
import { levelText, textOf } from './truth.ts'

/** So long a book may be behind others of its hub: it is lost there, and its clients are told with a later block. */
const DOUBT_MS = 60_000

/** So long after a Snapshot changes of its coin may be behind those of others. */
const SEEDING_MS = 2000

export interface Witness {
  readonly truth: Truth
  /** There were no faults for long: nothing may be missing any more. */
  isCalm(): boolean
  /** The clock of an object's machine lately jumped. */
  hasJumped(): boolean
  readonly hubs: number
  nowMs(): number
  /** Counts what was looked at. */
  checked(what: string): void
  wrong(what: string): void
}

export class EventLaw {
  readonly #witness: Witness
  readonly #name: string
  readonly #sequence: Sequence
  readonly #mayMiss: () => boolean
  /** Place of the next one; null where it may be any. */
  #next: number | null = null
  /** How many there were when continuity began anew. */
  #since = 0
  isLive = false
  /** Places that were passed over while some might be missing. */
  readonly #missed = new Set<number>()

  /**
   * `mayMiss`: some may be left out now, or be told with a later block (of order statuses soon after they are wanted: FEED-33),
   * but none comes twice.
   */
  constructor(witness: Witness, name: string, sequence: Sequence, mayMiss = () => false) {
    this.#mayMiss = mayMiss
    this.#witness = witness
    this.#name = name
    this.#sequence = sequence
  }

  /** What comes next need not follow what came. */
  anew(isLive: boolean): void {
    this.isLive = isLive
    this.#next = null
    this.#since = this.#sequence.length
    this.#missed.clear()
  }

  came(name: string): void {
    const place = this.#sequence.placeOf(name)
    if (place === undefined) return this.#witness.wrong(`${this.#name}: ${name} never happened`)
    const due = this.#next ?? Math.min(this.#since, place)
    let next = place + 1
    if (this.#mayMiss()) {
      if (place < due && this.#missed.delete(place)) return
      // Of what was before continuity began anew some come late, and others need not come.
      next = Math.max(next, this.#since)
      for (let passed = due; passed < next; passed++) if (passed !== place) this.#missed.add(passed)
    }
    if (this.#next !== null) {
      this.#witness.checked('events in order')
      if (place < due || (place > due && !this.#mayMiss())) {
        const how = place < due ? 'came again' : `came after ${place - due} that did not`
        this.#witness.wrong(`${this.#name}: ${name} of block ${this.#sequence.heights[place]} ${how}`)
      }
    }
    this.#next = next
  }

  /** At the end, all is still and well: null, or what is missing. */
  missing(): string | null {
    if (!this.isLive) return `${this.#name} is not live`
    const { length } = this.#sequence
    if (this.#next === length || length === this.#since) return null
    return `${this.#name}: ${length - (this.#next ?? this.#since)} did not come`
  }
}

export class TopLaw {
  readonly #witness: Witness
  readonly #name: string
  readonly #coin: string
  #last: { readonly time: number; readonly top: string } | null = null
  isLive = false

  constructor(witness: Witness, name: string, coin: string) {
    this.#witness = witness
    this.#name = name
    this.#coin = coin
  }

  anew(isLive: boolean): void {
    this.isLive = isLive
    this.#last = null
  }

  came(time: number, sides: readonly (Level | null)[]): void {
    this.#witness.checked('best levels shown')
    const top = sides.map(levelText).join(' | ')
    const truly = this.#trueTop(time)
    if (top !== truly) this.#witness.wrong(`${this.#name} is ${top} at ${time}, and truly ${truly}`)
    if (time < (this.#last?.time ?? 0)) this.#witness.wrong(`${this.#name}: ${time} came after ${this.#last!.time}`)
    this.#last = { time, top }
  }

  /** At the end: null, or how it is not what is true after the block of this time. */
  missing(time: number): string | null {
    if (!this.isLive) return `${this.#name} is not live`
    const top = this.#last?.top
    const truly = this.#trueTop(time)
    return top === truly ? null : `${this.#name} is ${top}, and truly, at the end, ${truly}`
  }

  #trueTop(time: number): string {
    return this.#witness.truth.topAt(this.#coin, time).join(' | ')
  }
}

export interface HeldBook {
  readonly coin: string
  readonly height: number
  levels(): Levels
}

export interface Batch {
  readonly epoch: string
  readonly height: number
  readonly coins: readonly string[]
}

export class BookLaw {
  readonly #witness: Witness
  readonly #name: string
  readonly #doubts = new Map<string, number>()
  readonly #isLate: () => boolean
  /** By epoch, the highest block of which changes came. */
  #last = new Map<string, number>()
  #seededMs = 0
  isLive = false

  /** `isLate`: a hub of this client's relay was lately late. */
  constructor(witness: Witness, name: string, isLate: () => boolean) {
    this.#witness = witness
    this.#name = name
    this.#isLate = isLate
  }

  anew(isLive: boolean): void {
    this.isLive = isLive
    this.#doubts.clear()
    this.#last.clear()
  }

  changed(book: HeldBook): void {
    this.#witness.checked('books that changed')
    this.#doubts.delete(book.coin)
    const has = textOf(book.levels())
    const truly = this.#witness.truth.bookAt(book.coin, book.height)
    if (has !== truly)
      this.#witness.wrong(`${this.#name}: ${book.coin} at block ${book.height} is\n  ${has}\nand truly\n  ${truly}`)
  }

  /** A Snapshot came: while they do, each coin has changes of its own. */
  seeded(): void {
    this.#seededMs = this.#witness.nowMs()
  }

  /** A frame was taken; `books` are all that are live. */
  came(batch: Batch, books: Iterable<HeldBook>): void {
    const { epoch, height } = batch
    // Of a new chain of books hub after hub begins.
    if (!this.#last.has(epoch)) this.seeded()
    const last = this.#last.get(epoch) ?? -1
    const isSeeding = this.#witness.nowMs() - this.#seededMs < SEEDING_MS
    if (height <= last && !isSeeding && !this.#isLate())
      this.#witness.wrong(`${this.#name}: changes of block ${height} came after those of block ${last}`)
    this.#last.set(epoch, Math.max(height, last))
    this.#witness.checked('frames of changes in order')
    const hubOf = (coin: string) => shardOf(coin, this.#witness.hubs)
    const hubs = new Set(batch.coins.map(hubOf))
    for (const book of books) if (book.height <= height && hubs.has(hubOf(book.coin))) this.#besides(book, height)
  }

  #besides(book: HeldBook, height: number): void {
    this.#witness.checked('books beside them')
    const { coin } = book
    if (textOf(book.levels()) === this.#witness.truth.bookAt(coin, height)) {
      this.#doubts.delete(coin)
      return
    }
    const now = this.#witness.nowMs()
    const sinceMs = this.#doubts.get(coin) ?? now
    this.#doubts.set(coin, sinceMs)
    if (now - sinceMs > DOUBT_MS)
      this.#witness.wrong(`${this.#name}: ${coin} stays behind at block ${book.height}, block ${height} came`)
  }

  /** At the end: every book of `coins` is the true one of this height; null, or which is not. */
  missing(coins: readonly string[], get: (coin: string) => HeldBook | undefined, height: number): string | null {
    if (!this.isLive) return `${this.#name} is not live`
    for (const coin of coins) {
      const truly = this.#witness.truth.bookAt(coin, height)
      const book = get(coin)
      const has = book ? textOf(book.levels()) : ''
      if (has !== truly) return `${this.#name}: ${coin} is\n  ${has}\nand truly, at block ${height},\n  ${truly}`
    }
    return null
  }
}
