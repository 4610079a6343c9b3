// The books of one shard of coins, kept in block order. Takes frames from the log and returns fragments for relays. A
// block is applied only if its height is the next one, and nothing is guessed: unknown books are reported as unknown.
//
//   waiting ──seed(all)──▶ ready ──block──▶ ready
//                            ├──books: null, gap──▶ waiting   (books unknown until the next seed)
//                            └──missing heights──▶ refused: the shell reads them from the log

import type { Coin } from '../core/coin.ts'
import type { BookChange, Levels } from '../protocol/feed/block.ts'
import type { HubBlock, HubSeed, HubVerified } from '../protocol/feed/log-api.ts'
import type { CoinFragment } from '../protocol/hub/hub-link.ts'
import { type Checkpoint, CoinBook, type PreparedBook, prepareBook } from './coin-book.ts'
import { ASKS, BIDS, LevelBook } from './level-book.ts'
import { SeedStaging } from './seed-staging.ts'

type BlockOutcome =
  /** `fragments`: one per changed coin; empty for a tick. */
  | { readonly kind: 'applied'; readonly fragments: readonly CoinFragment[] }
  | { readonly kind: 'duplicate' }
  /** The block is not the next one: `from` is the first missing height. */
  | { readonly kind: 'missing'; readonly from: number }

/**
 * Maximum levels of pending changes that one block publishes in addition to its own. Publishing them takes a few
 * milliseconds.
 */
const MAX_DEBT_LEVELS = 4096

export class ShardBooks {
  readonly #staging = new SeedStaging((coin, book) => prepareBook(coin, book, this.#coins.get(coin)))
  epoch: string | null = null
  height: number | null = null
  time = 0
  #seedHeight = 0
  /** True while the books are known and valid at `height`. */
  ready = false
  #coins = new Map<string, CoinBook>()
  /** Height up to which a restored coin already has the changes that the log sends again. */
  #restoredAt = new Map<string, number>()
  /** Fragments up to this height lack changes that the checkpoints had, so they cannot be replayed to relays. */
  completeAt = -1
  /** Coins with an unknown book: they need a reseed, and their changes are not published. */
  #suspectCoins = new Set<string>()
  /** Coins with pending changes from a reseed, published with the next block. */
  #indebted = new Set<string>()
  /** Coins with missing changes. The next block tells clients that their books no longer continue. */
  #interrupted = new Set<string>()

  /** Coins whose book is unknown although the shard is ready. */
  get suspects(): readonly string[] {
    return [...this.#suspectCoins]
  }
  /** False while a coin's book is unknown, or while clients have not yet been notified of a new or interrupted book. */
  isSettled(coin: Coin): boolean {
    return !this.#suspectCoins.has(coin) && !this.#interrupted.has(coin) && !this.#coins.get(coin)?.isUnannounced
  }
  /** True for a coin with a book. */
  has(coin: Coin): boolean {
    return this.#coins.has(coin)
  }
  /** A coin's current state; read-only. */
  get(coin: Coin): Readonly<Pick<CoinBook, 'book' | 'lastPx'>> | undefined {
    return this.#coins.get(coin)
  }
  /** Every coin with a book. */
  coins(): IterableIterator<string> {
    return this.#coins.keys()
  }

  /**
   * Restores checkpoints of one epoch, each at its own height. Returns the height after which blocks must follow; if no
   * checkpoint has that epoch, returns null and changes nothing. `expectCoins` must name the coins that have no
   * checkpoint.
   */
  restore(epoch: string, seedHeight: number, checkpoints: readonly Checkpoint[]): number | null {
    const usable = checkpoints.filter((checkpoint) => checkpoint.epoch === epoch)
    if (usable.length === 0) return null
    // An unchanged coin is not stored again: its checkpoint is valid up to the highest `clean` height of all
    // checkpoints.
    const clean = usable.reduce((height, checkpoint) => Math.max(height, checkpoint.clean ?? -1), -1)
    const from = usable.reduce((least, { height }) => Math.min(least, Math.max(height, clean)), Infinity)
    this.#beginEpoch(epoch, from)
    this.#seedHeight = seedHeight
    for (const { coin, height, time, seq, lastPx, levels } of usable) {
      const trueAt = Math.max(height, clean)
      const known = new CoinBook(coin, LevelBook.of(levels), seq)
      known.lastPx = lastPx
      this.#coins.set(coin, known)
      this.#restoredAt.set(coin, trueAt)
      this.completeAt = Math.max(this.completeAt, trueAt)
      this.time = Math.max(this.time, time)
    }
    return this.height
  }

  /** Sets the coins that have a book in this epoch. Coins whose book is missing must be reseeded. */
  expectCoins(coins: readonly string[]): void {
    for (const coin of coins) if (!this.#coins.has(coin)) this.#suspectCoins.add(coin)
  }

  /**
   * Drops coins whose book is older than the log's repair, because no block leads from it to the repaired book. `at`:
   * the shard's height when the log was asked. Returns the dropped coins.
   */
  invalidate(repairs: readonly { readonly coin: Coin; readonly height: number }[], at: number): string[] {
    const outdated = repairs.filter(({ coin, height }) => {
      const known = this.#coins.get(coin)
      if (!known || height <= known.repairedAt) return false
      return Math.max(at, this.#restoredAt.get(coin) ?? -1) <= height
    })
    for (const { coin } of outdated) {
      this.#coins.delete(coin)
      this.#indebted.delete(coin)
    }
    this.expectCoins(outdated.map(({ coin }) => coin))
    return outdated.map(({ coin }) => coin)
  }

  /** Moves to a height of an epoch without any books, so every coin must be reseeded. */
  resetTo(epoch: string | null, height: number | null, coins: readonly string[]): void {
    this.#beginEpoch(epoch, height)
    this.ready = epoch !== null
    this.#coins.clear()
    this.#indebted.clear()
    this.expectCoins(coins)
  }

  /** Skips heights up to `to`, which never arrived. The books are unknown until the next seed. */
  skip(to: number): void {
    this.height = to
    this.ready = false
  }

  /** Applies the changes of one block. */
  apply(block: HubBlock): BlockOutcome {
    if (this.height !== null && block.height <= this.height) return { kind: 'duplicate' }
    if (this.height !== null && block.height > this.height + 1) return { kind: 'missing', from: this.height + 1 }
    this.#staging.clear()
    this.height = block.height
    this.time = block.time
    if (block.books === null || block.epoch !== this.epoch) this.ready = false
    if (!this.ready) return { kind: 'applied', fragments: [] }
    const fragments: CoinFragment[] = []
    for (const change of block.books ?? []) {
      const fragment = this.#change(change, block.height)
      if (fragment) fragments.push(fragment)
    }
    this.#payDebts(block.height, fragments)
    for (const coin in block.px) {
      const known = this.#coins.get(coin)
      // biome-ignore lint/style/noNonNullAssertion: the name is one of the record's
      if (known) known.lastPx = block.px[coin]!
    }
    return { kind: 'applied', fragments }
  }

  #change({ coin, levels, new: isNew }: BookChange, height: number): CoinFragment | null {
    if (height <= (this.#restoredAt.get(coin) ?? -1)) return null
    const known = this.#coins.get(coin)
    if (!known) return this.#addFirst(coin, levels, isNew === true, height)
    return known.change(levels, height, this.#indebted.delete(coin))
  }

  #addFirst(coin: Coin, levels: Levels, isNew: boolean, height: number): CoinFragment | null {
    if (!isNew) {
      this.#suspectCoins.add(coin)
      return null
    }
    this.#suspectCoins.delete(coin)
    const known = new CoinBook(coin, LevelBook.of(levels), height)
    this.#coins.set(coin, known)
    return { mark: '+', coin, prevSeq: this.#seedHeight, levels: known.encode() }
  }

  #payDebts(height: number, fragments: CoinFragment[]): void {
    let levels = 0
    for (const coin of this.#indebted) {
      // After an outage, the changes of a whole shard may be pending. Those beyond the limit follow with the next
      // blocks.
      if (levels >= MAX_DEBT_LEVELS) break
      this.#indebted.delete(coin)
      levels += this.#coins.get(coin)?.payDebt(height, fragments) ?? 0
    }
    for (const coin of this.#interrupted) {
      const known = this.#coins.get(coin)
      if (known) known.seq = height
      const changed = fragments.findIndex((fragment) => fragment.coin === coin)
      if (changed >= 0) fragments.splice(changed, 1)
      fragments.push({ mark: '!', coin, prevSeq: -1, levels: '[[],[]]' })
    }
    this.#interrupted.clear()
  }

  /**
   * Accepts a part of a snapshot. The last part replaces the books. `scope: 'all'` starts the epoch `seed.epoch`, in
   * which a coin that the seed does not list has an empty book. `scope: 'coins'` repairs the listed coins within the
   * epoch. The next block corrects the clients' books: it has a change where the old book is known, and a `!` where it
   * is not. Returns the replaced coins, or null if no book was replaced.
   */
  seed(seed: Omit<HubSeed, 'v' | 't'>): readonly string[] | null {
    const books = this.#staging.push(seed as HubSeed)
    const isFresh = seed.scope === 'all'
    // A repair is valid at one height only: otherwise, earlier changes would be applied on top of it.
    const isFit = this.ready && seed.epoch === this.epoch && seed.height === this.height
    if (!books || (!isFresh && !isFit)) return null
    const listed = new Set(books.map(({ coin }) => coin))
    // Clients may still have the books that this hub lost, so they must be notified that these books no longer
    // continue.
    for (const coin of listed) if (this.#suspectCoins.has(coin)) this.#interrupted.add(coin)
    const isFollowed = this.epoch !== null
    if (isFresh) this.#beginEpoch(seed.epoch, seed.height)
    this.time = seed.time
    for (const one of books) this.#replace(one, isFresh, isFollowed)
    if (isFresh)
      for (const coin of [...this.#coins.keys()])
        if (!listed.has(coin)) this.#replace(prepareBook(coin, new LevelBook()), true, isFollowed)
    return [...listed]
  }

  #beginEpoch(epoch: string | null, height: number | null): void {
    this.epoch = epoch
    this.height = height
    this.#seedHeight = height ?? 0
    this.ready = true
    this.#restoredAt.clear()
    this.completeAt = -1
    this.#suspectCoins.clear()
  }

  #replace(prepared: PreparedBook, isFresh: boolean, isFollowed: boolean): void {
    const { coin, book } = prepared
    const known = this.#coins.get(coin)
    this.#suspectCoins.delete(coin)
    if (known || isFollowed) this.#indebted.add(coin)
    if (isFresh) {
      const next = known?.inNewEpoch(prepared, this.#seedHeight)
      this.#coins.set(coin, next ?? new CoinBook(coin, book, this.#seedHeight, isFollowed))
      return
    }
    const height = this.height ?? 0
    if (known) return known.repair(book, height)
    const first = new CoinBook(coin, book, height, isFollowed)
    first.repairedAt = height
    this.#coins.set(coin, first)
  }

  /** JSON string `[bids,asks]` of a coin's book; null if there is none. The whole book is encoded once per state. */
  encode(coin: Coin, depth?: number): { readonly seq: number; readonly levels: string } | null {
    const known = this.#coins.get(coin)
    if (!known) return null
    return { seq: known.seq, levels: known.encode(depth) }
  }

  /**
   * Coins whose book had a different digest at `height`. Coins are left out if their digest at that height is unknown,
   * for example because it is too old.
   */
  differing(height: number, books: HubVerified['books']): string[] {
    const at = this.height ?? -1
    const isHeld = this.ready && height <= at && at >= this.completeAt
    return isHeld
      ? books.filter(([coin, digest]) => this.#coins.get(coin)?.differsAt(height, digest)).map(([coin]) => coin)
      : []
  }

  /** Best prices and last trade of every coin. */
  *tops(): Generator<{ coin: Coin; bidPx: string | null; askPx: string | null; lastPx: string | null }> {
    for (const [coin, { book, lastPx }] of this.#coins)
      yield { coin, bidPx: book.bestPx(BIDS), askPx: book.bestPx(ASKS), lastPx }
  }

  /** The state to store so that `restore` can resume from it; null while the book is uncertain. */
  checkpoint(coin: Coin): Checkpoint | null {
    const known = this.#coins.get(coin)
    if (!known || !this.ready || this.epoch === null || this.height === null) return null
    // Pending changes exist in memory only, so such a coin is stored after the next block has published them.
    if (this.#indebted.has(coin) || this.#interrupted.has(coin)) return null
    // While restored blocks are replayed, the coin is ahead of the shard.
    const height = Math.max(this.height, this.#restoredAt.get(coin) ?? -1)
    const { seq, lastPx, book } = known
    return { coin, epoch: this.epoch, height, time: this.time, seq, lastPx, levels: book.levels() }
  }
}
