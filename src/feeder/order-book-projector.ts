// Maintains the order books block by block and repairs them from the node's snapshots. Invariant: the books are exactly
// those at `position`, or null. A snapshot of an earlier height is brought up to `position` with the retained diffs, a
// few at a time, and only then adopted. A snapshot of a later height waits. After a checkpoint has been loaded, each coin
// has its own height. Diffs of a coin are skipped until its height is reached.

import type { BookChange } from '../protocol/feed/block.ts'
import type { OrderBooks } from './order-books.ts'
import { coinOf, type RawDiff, readRawDiff } from './raw-diff.ts'

/** Diffs applied per turn to a snapshot that is catching up. Applying them takes a few milliseconds. */
const DIFFS_PER_TURN = 2_000

/** Diffs of a block applied per step. */
const DIFFS_PER_STEP = 400

/** Books of the node after block `height`. */
export interface SnapshotBooks {
  readonly height: number
  readonly books: OrderBooks
  /** The coins included: `all`, or only those that need a repair. */
  readonly coins: 'all' | ReadonlySet<string>
}

/** The position after a block: its height, and its time as the node writes it. */
export interface BlockPosition {
  readonly height: number
  readonly time: string
}

export class OrderBookProjector {
  #books: OrderBooks | null = null
  #current: BlockPosition | null = null
  /** A snapshot that is catching up, and its height so far. */
  #incoming: { readonly snapshot: SnapshotBooks; height: number } | null = null
  /** Coins whose book is ahead of `position`, with their heights. */
  #ahead: ReadonlyMap<string, number> = new Map()
  #alignedAt = 0
  /** True in the middle of a block, when the books have no valid height. */
  #isMidBlock = false
  #repaired: 'all' | Set<string> = new Set()
  /** Coins whose books matched the node's in the last comparison, not yet reported to the gateway. */
  #confirmed: string[] = []
  #earlierMisfits = 0
  /** Number of snapshots that were too old to catch up, since the start. */
  missedSnapshots = 0
  readonly #recent: RecentDiffs

  constructor(recent: RecentDiffs = new RecentDiffs()) {
    this.#recent = recent
  }

  get books(): OrderBooks | null {
    return this.#books
  }

  /** The block processed last; null before the first. */
  get position(): BlockPosition | null {
    return this.#current
  }

  /** Number of diffs that did not fit their book, since the start. */
  get misfits(): number {
    return this.#earlierMisfits + (this.#books?.misfits ?? 0)
  }

  /** True when all known books are at `position`. */
  get isAligned(): boolean {
    return this.#ahead.size === 0
  }

  /** True while a snapshot from the node is needed, because the books are unknown or a coin is suspect. */
  get needsSnapshot(): boolean {
    return this.#incoming === null && this.isAligned && (this.#books === null || this.#books.suspects.size > 0)
  }

  /** Starts after a block, with its books or with unknown ones. `heights`: heights of coins that may be ahead. */
  startAt(
    position: BlockPosition | null,
    books: OrderBooks | null,
    heights: ReadonlyMap<string, number> = new Map(),
  ): void {
    this.#replace(books)
    this.#current = position
    this.#ahead = new Map([...heights].filter(([, height]) => position && height > position.height))
    this.#alignedAt = Math.max(0, ...this.#ahead.values())
    this.#incoming = null
    this.#recent.clear()
    this.#repaired = new Set()
  }

  /**
   * Applies the diffs of a block. Returns its net level changes; null while books are unknown. A long block is applied
   * in steps, between which the books must not be read. If the steps are not completed, the books are unknown.
   */
  *advance(position: BlockPosition, events: readonly unknown[]): Generator<void, BookChange[] | null> {
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
        if ((this.#ahead.get(diff.coin) ?? 0) < position.height) books.apply(diff)
      }
      if (events.length > DIFFS_PER_STEP) yield
      this.#isMidBlock = false
    } finally {
      if (this.#isMidBlock) this.loseBooks(position)
    }
    this.#current = position
    this.#recent.push(position.height, diffs, before)
    const changes = books?.endBlock() ?? null
    if (!this.isAligned && position.height >= this.#alignedAt) this.#ahead = new Map()
    this.catchUpSnapshot()
    return changes
  }

  /** Skips a block with missing diffs: the books are unknown from this block onward. */
  loseBooks(position: BlockPosition): void {
    this.#isMidBlock = false
    this.#replace(null)
    this.#ahead = new Map()
    this.#current = position
    this.#recent.clear()
    this.catchUpSnapshot()
  }

  /** Tells whether the books at `height` are still ahead, available, or too old. */
  availability(height: number): 'ahead' | 'available' | 'too old' {
    if (this.#current === null || height > this.#current.height) return 'ahead'
    return height === this.#current.height || this.#recent.hasAllAfter(height) ? 'available' : 'too old'
  }

  /** Digest of every coin's book at `height`, which must be available. The books must be known. */
  digestsAt(height: number): Map<string, number> {
    const books = this.#books
    const now = books?.coins().map((coin) => [coin, books.digest(coin)] as const) ?? []
    return height === this.#current?.height ? new Map(now) : new Map([...now, ...this.#recent.digestsAt(height)])
  }

  /** Offers a snapshot, to be adopted once it has caught up. Takes ownership of its books. */
  offerSnapshot(snapshot: SnapshotBooks): void {
    this.#incoming = { snapshot, height: snapshot.height }
    this.catchUpSnapshot()
  }

  /** Applies more diffs to a snapshot that is catching up. Call between blocks. */
  catchUpSnapshot(): void {
    const incoming = this.#incoming
    if (!incoming || this.#isMidBlock) return
    const { books, coins } = incoming.snapshot
    const position = this.#current
    const availability = this.availability(incoming.height)
    if (position === null || availability === 'ahead') return
    if (availability === 'too old') {
      this.#incoming = null
      this.missedSnapshots++
      return
    }
    const { height } = position
    for (let remaining = DIFFS_PER_TURN; incoming.height < height && remaining > 0; incoming.height++) {
      const diffs = this.#recent.diffsOf(incoming.height + 1)
      for (const diff of diffs) if (coins === 'all' || coins.has(diff.coin)) books.apply(diff)
      books.endBlock()
      remaining -= diffs.length
    }
    if (incoming.height === height) this.#adopt(incoming.snapshot)
  }

  /** Repairs since the last call, which the gateway must get; null if there are none. */
  takeRepaired(): 'all' | string[] | null {
    const repaired = this.#repaired
    this.#repaired = new Set()
    if (repaired === 'all') return 'all'
    return repaired.size > 0 ? [...repaired] : null
  }

  /** Records that all books except those of `except` match the node's snapshot. */
  confirm(except: ReadonlySet<string>): void {
    this.#confirmed = this.#books?.coins().filter((coin) => !except.has(coin)) ?? []
  }

  /** Coins that matched since the last call. */
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

/** About one minute of all diffs of the real exchange. */
const MAX_RECENT_DIFFS = 200_000

interface RecentBlock {
  readonly diffs: readonly RawDiff[]
  /** Digests of the changed coins before the block. */
  readonly before: ReadonlyMap<string, number>
}

/**
 * The last blocks: their raw diffs, with which a slightly older snapshot can catch up, and the digests that they
 * replaced, which give the digests at an earlier height.
 */
export class RecentDiffs {
  readonly #blocks = new Map<number, RecentBlock>()
  readonly #limit: number
  #count = 0
  #last: number | null = null

  /** `limit`: diffs retained; the last block is retained whatever its length. */
  constructor(limit: number = MAX_RECENT_DIFFS) {
    this.#limit = limit
  }

  /**
   * Adds the next block. If it is not the next height, the earlier blocks are dropped, because a run with a missing
   * block is useless.
   */
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

  /** True if every block after `height` is retained. */
  hasAllAfter(height: number): boolean {
    return this.#last !== null && (height === this.#last || (height < this.#last && this.#blocks.has(height + 1)))
  }

  /** The diffs of a retained block. */
  diffsOf(height: number): readonly RawDiff[] {
    return this.#blocks.get(height)?.diffs ?? []
  }

  /** Digests at an earlier `height`, for the coins that have changed since. */
  digestsAt(height: number): Map<string, number> {
    const digests = new Map<string, number>()
    for (let h = this.#last ?? height; h > height; h--)
      for (const [coin, digest] of this.#blocks.get(h)?.before ?? []) digests.set(coin, digest)
    return digests
  }
}
