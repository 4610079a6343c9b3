// Requests snapshots from the node and passes them to the projector: immediately while books are unknown, soon for a
// suspect coin, and every few minutes to detect drift. A thread does the work and returns only the coins that differ,
// in parts.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { EMPTY_DIGEST } from '../block-log/level-digest.ts'
import { readOrder } from './checkpoint.ts'
import { type NodeSnapshots, type SnapshotExchange, waitForHeight } from './node-snapshots.node.ts'
import type { OrderBookProjector, SnapshotBooks } from './order-book-projector.ts'
import { OrderBooks } from './order-books.ts'
import type { BooksSelection } from './snapshot-thread.node.ts'

interface FetcherHost {
  readonly snapshots: NodeSnapshots
  readonly verifyMs: number
  readonly projector: OrderBookProjector
  readonly signal: AbortSignal
  log(message: string): void
}

export class SnapshotFetcher {
  readonly #host: FetcherHost
  #isBusy = false
  #verifyAt: number | null = null
  #era = 0
  /** Number of outdated snapshots reported so far. */
  #reportedMissed = 0
  /** Coins whose levels differed from the node's snapshot, since the start. */
  drifted = 0

  constructor(host: FetcherHost) {
    this.#host = host
  }

  /** Requests a snapshot if one is due. The projector gets it later, between blocks. */
  tick(nowMs: number): void {
    if (this.#host.projector.missedSnapshots > this.#reportedMissed) this.#onTooOld(nowMs)
    if (this.#host.projector.books) this.#verifyAt ??= nowMs + this.#host.verifyMs
    const verify = this.#verifyAt !== null && nowMs >= this.#verifyAt && this.#host.projector.isAligned
    if (this.#isBusy || !this.#host.snapshots.isReady(nowMs) || !(verify || this.#host.projector.needsSnapshot)) return
    this.#verifyAt = null
    void this.#repair()
  }

  /** Invalidates a pending snapshot, because it was requested at an earlier position. */
  invalidate(): void {
    this.#era++
  }

  /** Returns a snapshot of all books to the caller. A failure is logged; the result is then null. */
  async fetch(): Promise<SnapshotBooks | null> {
    return this.#host.snapshots.isReady(performance.now()) ? await this.#read(null) : null
  }

  async #repair(): Promise<void> {
    this.#isBusy = true
    const era = this.#era
    const { books } = this.#host.projector
    const snapshot = await this.#read(books)
    this.#isBusy = false
    if (!snapshot || era !== this.#era || books !== this.#host.projector.books) return
    if (snapshot.coins !== 'all') this.#host.projector.confirm(snapshot.coins)
    if (snapshot.coins !== 'all' && snapshot.coins.size === 0) return
    this.#host.projector.offerSnapshot(snapshot)
  }

  #onTooOld(nowMs: number): void {
    this.#reportedMissed = this.#host.projector.missedSnapshots
    this.#host.snapshots.onFailed("the node's snapshot is too old to use", nowMs)
  }

  /**
   * Reads a snapshot. If `ours` is given, it includes only coins that differ from these books or are suspect;
   * otherwise, all coins.
   */
  #read(ours: OrderBooks | null): Promise<SnapshotBooks | null> {
    return this.#host.snapshots.read('books', (exchange) => this.#receive(exchange, ours))
  }

  async #receive(exchange: SnapshotExchange, ours: OrderBooks | null): Promise<SnapshotBooks> {
    const books = new OrderBooks()
    const coins = new Set<string>()
    let height = 0
    let selection: BooksSelection = { digests: null, suspects: new Set() }
    for await (const message of exchange.messages) {
      if (message.kind === 'height') {
        height = message.height
        if (ours) selection = await this.#selectionFor(ours, height)
        exchange.reply(selection)
      }
      if (message.kind !== 'part') continue
      const { coin, isMore, lines } = message
      books.load({ coin, known: true, orders: lines === '' ? [] : lines.split('\n').map(readOrder), isMore })
      coins.add(coin)
      // Blocks and sockets get a turn before the next part.
      await nextTurn()
      exchange.reply('next')
    }
    const digestOf = (coin: string) => selection.digests?.get(coin) ?? EMPTY_DIGEST
    if (ours) this.#reportDrift([...coins].filter((coin) => digestOf(coin) !== books.digest(coin)))
    return { height, books, coins: ours ? coins : 'all' }
  }

  /** Digests of our books at the height of the node's snapshot, once we reach it. */
  async #selectionFor(ours: OrderBooks, height: number): Promise<BooksSelection> {
    await waitForHeight(height, this.#host.signal, () => {
      if (this.#host.projector.books !== ours) throw new Error('the books were replaced during the comparison')
      const availability = this.#host.projector.availability(height)
      if (availability === 'too old') throw new Error(`its height ${height} is too old`)
      return availability === 'available'
    })
    return { digests: this.#host.projector.digestsAt(height), suspects: ours.suspects }
  }

  #reportDrift(coins: readonly string[]): void {
    this.drifted += coins.length
    if (coins.length > 0) this.#host.log(`${coins.length} books differed from the node's snapshot and were repaired`)
  }
}
