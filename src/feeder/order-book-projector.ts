// Keeps the order books in step with the chain, and repairs them from the node's snapshots.
// Law: books are either known, exactly as of `place`, or null. Books of another height are brought to ours with the
// diffs kept since (newer ones wait until we are there), some diffs at a time, and only then taken over. Of books from
// a checkpoint each coin has a height of its own: until we are at the highest, a coin that is ahead is left alone.

import type { BookChange } from '../protocol/feed/block.ts'
import type { OrderBooks } from './order-books.ts'
import { coinOf, type RawDiff, readRawDiff } from './raw-diff.ts'

/** Diffs that are applied to books on their way before others get their turn: some milliseconds. */
const DIFFS_PER_TURN = 2_000

/** Diffs of a block that are passed in one step. */
const DIFFS_PER_STEP = 400

/** Books that a node reported as they stood after block `height`. */
export interface SnapshotBooks {
  readonly height: number
  readonly books: OrderBooks
  /** `all`: the books are whole. Else those of these coins alone, which have to be repaired. */
  readonly coins: 'all' | ReadonlySet<string>
}

/** A block that was passed: its height and the node's text of its time. */
export interface BlockPosition {
  readonly height: number
  readonly time: string
}

export class OrderBookProjector {
  #books: OrderBooks | null = null
  #current: BlockPosition | null = null
  /** Books on their way to our height, and how far they are. */
  #incoming: { readonly snapshot: SnapshotBooks; height: number } | null = null
  /** Coins whose book is ahead of `place`, with the height of each. */
  #ahead: ReadonlyMap<string, number> = new Map()
  #alignedAt = 0
  /** A block is being passed: the books are those of no height. */
  #isMidBlock = false
  #repaired: 'all' | Set<string> = new Set()
  /** Coins whose books agreed with the node's when last compared, and of which the gateway was not yet told. */
  #confirmed: string[] = []
  #earlierMisfits = 0
  /** Snapshots that could no longer be brought to our height, since the start. */
  missedSnapshots = 0
  readonly #recent: RecentDiffs

  constructor(recent: RecentDiffs = new RecentDiffs()) {
    this.#recent = recent
  }

  get books(): OrderBooks | null {
    return this.#books
  }

  /** The block processed last, null before the first. */
  get position(): BlockPosition | null {
    return this.#current
  }

  /** Diffs that did not fit their book, since the start. */
  get misfits(): number {
    return this.#earlierMisfits + (this.#books?.misfits ?? 0)
  }

  /** Whether all known books stand at `place`. */
  get isAligned(): boolean {
    return this.#ahead.size === 0
  }

  /** True while a snapshot of the node is needed: books unknown, or a coin suspect. */
  get needsSnapshot(): boolean {
    return this.#incoming === null && this.isAligned && (this.#books === null || this.#books.suspects.size > 0)
  }

  /** Stands after the block `place` with `books`, or with unknown ones. `heights`: of coins that may be further. */
  startAt(
    place: BlockPosition | null,
    books: OrderBooks | null,
    heights: ReadonlyMap<string, number> = new Map(),
  ): void {
    this.#replace(books)
    this.#current = place
    this.#ahead = new Map([...heights].filter(([, height]) => place && height > place.height))
    this.#alignedAt = Math.max(0, ...this.#ahead.values())
    this.#incoming = null
    this.#recent.clear()
    this.#repaired = new Set()
  }

  /**
   * Passes a block whose diffs are `events`; answers its net level changes, null while books are unknown. A long one is
   * passed in steps, between which nobody may ask for books; where it is not passed to its end, they are unknown.
   */
  *advance(place: BlockPosition, events: readonly unknown[]): Generator<void, BookChange[] | null> {
    const books = this.#books
    const diffs: RawDiff[] = []
    const before = new Map<string, number>()
    this.#isMidBlock = true
    try {
      for (const [index, event] of events.entries()) {
        if (index % DIFFS_PER_STEP === 0 && events.length > DIFFS_PER_STEP) yield
        const diff = readRawDiff(event)
        if (!diff) {
          books?.markSuspect(coinOf(event))
          continue
        }
        diffs.push(diff)
        if (!books) continue
        if (!before.has(diff.coin)) before.set(diff.coin, books.digest(diff.coin))
        if ((this.#ahead.get(diff.coin) ?? 0) < place.height) books.apply(diff)
      }
      if (events.length > DIFFS_PER_STEP) yield
      this.#isMidBlock = false
    } finally {
      if (this.#isMidBlock) this.loseBooks(place)
    }
    this.#current = place
    this.#recent.push(place.height, diffs, before)
    const changes = books?.endBlock() ?? null
    if (!this.isAligned && place.height >= this.#alignedAt) this.#ahead = new Map()
    this.catchUpSnapshot()
    return changes
  }

  /** Passes a block whose diffs are missing: the books are unknown from here on. */
  loseBooks(place: BlockPosition): void {
    this.#isMidBlock = false
    this.#replace(null)
    this.#ahead = new Map()
    this.#current = place
    this.#recent.clear()
    this.catchUpSnapshot()
  }

  /** Where books of `height` stand: not reached yet, within what can be told, or too old for it. */
  availability(height: number): 'ahead' | 'held' | 'too old' {
    if (this.#current === null || height > this.#current.height) return 'ahead'
    return height === this.#current.height || this.#recent.hasAllAfter(height) ? 'held' : 'too old'
  }

  /** Digest of every coin's book as it was at `height`, which is held; the books are known. */
  digestsAt(height: number): Map<string, number> {
    const books = this.#books
    const now = books?.coins().map((coin) => [coin, books.digest(coin)] as const) ?? []
    return height === this.#current?.height ? new Map(now) : new Map([...now, ...this.#recent.digestsAt(height)])
  }

  /** Hands in a snapshot; it is taken once it was brought to our height. The books given are taken over. */
  offerSnapshot(snapshot: SnapshotBooks): void {
    this.#incoming = { snapshot, height: snapshot.height }
    this.catchUpSnapshot()
  }

  /** Brings books that are on their way nearer; called between blocks. */
  catchUpSnapshot(): void {
    const coming = this.#incoming
    if (!coming || this.#isMidBlock) return
    const { books, coins } = coming.snapshot
    const place = this.#current
    const standing = this.availability(coming.height)
    if (place === null || standing === 'ahead') return
    if (standing === 'too old') {
      this.#incoming = null
      this.missedSnapshots++
      return
    }
    const { height } = place
    for (let left = DIFFS_PER_TURN; coming.height < height && left > 0; coming.height++) {
      const diffs = this.#recent.diffsOf(coming.height + 1)
      for (const diff of diffs) if (coins === 'all' || coins.has(diff.coin)) books.apply(diff)
      books.endBlock()
      left -= diffs.length
    }
    if (coming.height === height) this.#adopt(coming.snapshot)
  }

  /** What was repaired since the last call and has to be told to the gateway; null where nothing was. */
  takeRepaired(): 'all' | string[] | null {
    const repaired = this.#repaired
    this.#repaired = new Set()
    if (repaired === 'all') return 'all'
    return repaired.size > 0 ? [...repaired] : null
  }

  /** All books but those of `except` agree with the node's snapshot. */
  confirm(except: ReadonlySet<string>): void {
    this.#confirmed = this.#books?.coins().filter((coin) => !except.has(coin)) ?? []
  }

  /** Coins whose books agree with the node's, since the last call. */
  takeConfirmed(): string[] {
    const confirmed = this.#confirmed.filter((coin) => !this.#books?.suspects.has(coin))
    this.#confirmed = []
    return confirmed
  }

  #adopt({ books, coins }: SnapshotBooks): void {
    this.#incoming = null
    if (coins === 'all') {
      this.#replace(books)
      this.#repaired = 'all'
      return
    }
    if (!this.#books) return
    for (const coin of coins) {
      this.#books.adopt(coin, books)
      if (this.#repaired !== 'all') this.#repaired.add(coin)
    }
    this.#confirmed.push(...coins)
  }

  #replace(books: OrderBooks | null): void {
    this.#earlierMisfits += this.#books?.misfits ?? 0
    this.#books = books
    this.#confirmed = []
  }
}

/** About a minute of the whole real exchange. */
const MAX_RECENT_DIFFS = 200_000

interface RecentBlock {
  readonly diffs: readonly RawDiff[]
  /** Digests of the coins that it touched, as they were before it. */
  readonly before: ReadonlyMap<string, number>
}

/**
 * The raw diffs of the last blocks, kept so that a snapshot taken a little earlier can be brought to our height, and the
 * digests that they changed, so that it can be told what our books were at its height.
 */
export class RecentDiffs {
  readonly #blocks = new Map<number, RecentBlock>()
  readonly #limit: number
  #count = 0
  #last: number | null = null

  /** `limit`: diffs kept; the last block is kept whatever its length. */
  constructor(limit: number = MAX_RECENT_DIFFS) {
    this.#limit = limit
  }

  /** Adds the block after the last one; another height begins anew, since a run with a hole is of no use. */
  push(height: number, diffs: readonly RawDiff[], before: ReadonlyMap<string, number>): void {
    if (this.#last === null || height !== this.#last + 1) this.clear()
    this.#last = height
    this.#blocks.set(height, { diffs, before })
    this.#count += diffs.length
    for (const [oldest, old] of this.#blocks) {
      if (this.#count <= this.#limit || oldest === height) break
      this.#blocks.delete(oldest)
      this.#count -= old.diffs.length
    }
  }

  clear(): void {
    this.#blocks.clear()
    this.#count = 0
    this.#last = null
  }

  /** Whether every block after `height` is held. */
  hasAllAfter(height: number): boolean {
    return this.#last !== null && (height === this.#last || (height < this.#last && this.#blocks.has(height + 1)))
  }

  /** The diffs of a block that is held. */
  diffsOf(height: number): readonly RawDiff[] {
    return this.#blocks.get(height)?.diffs ?? []
  }

  /** Digests at `height`, which is reached, of the coins that changed since. */
  digestsAt(height: number): Map<string, number> {
    const digests = new Map<string, number>()
    for (let h = this.#last ?? height; h > height; h--)
      for (const [coin, digest] of this.#blocks.get(h)?.before ?? []) digests.set(coin, digest)
    return digests
  }
}
