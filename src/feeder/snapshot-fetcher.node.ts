// Decides when the node is asked for its order-level snapshot, and hands what it says to the book keeper: at once while
// books are unknown, soon for a suspect coin, and every few minutes to find drift. A thread does the work; what comes
// over is the coins that differ, in parts.

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
  log(sentence: string): void
}

export class SnapshotFetcher {
  readonly #host: FetcherHost
  #isBusy = false
  #verifyAt: number | null = null
  #era = 0
  /** Snapshots that were too old, as far as they were told of. */
  #reportedMissed = 0
  /** Coins whose levels differed from the node's snapshot, since the start. */
  drifted = 0

  constructor(host: FetcherHost) {
    this.#host = host
  }

  /** Asks for a snapshot if one is due; the answer reaches the keeper later, between blocks. */
  tick(nowMs: number): void {
    if (this.#host.projector.missedSnapshots > this.#reportedMissed) this.#onTooOld(nowMs)
    if (this.#host.projector.books) this.#verifyAt ??= nowMs + this.#host.verifyMs
    const verify = this.#verifyAt !== null && nowMs >= this.#verifyAt && this.#host.projector.isAligned
    if (this.#isBusy || !this.#host.snapshots.isReady(nowMs) || !(verify || this.#host.projector.needsSnapshot)) return
    this.#verifyAt = null
    void this.#repair()
  }

  /** What is on its way belongs to an earlier position and is dropped when it comes. */
  invalidate(): void {
    this.#era++
  }

  /** A whole snapshot for the caller; null where there is none now, which was said. */
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
    this.#host.snapshots.onFailed("the node's snapshot is of a height that is too old to be used", nowMs)
  }

  /** `ours`: compares with these books, and answers what differs of them or is suspect; null: all. */
  #read(ours: OrderBooks | null): Promise<SnapshotBooks | null> {
    return this.#host.snapshots.read('books', (talk) => this.#receive(talk, ours))
  }

  async #receive(talk: SnapshotExchange, ours: OrderBooks | null): Promise<SnapshotBooks> {
    const books = new OrderBooks()
    const coins = new Set<string>()
    let height = 0
    let wanted: BooksSelection = { digests: null, suspects: new Set() }
    for await (const words of talk.messages) {
      if (words.kind === 'height') {
        height = words.height
        if (ours) wanted = await this.#selectionFor(ours, height)
        talk.reply(wanted)
      }
      if (words.kind !== 'part') continue
      const { coin, isMore, lines } = words
      books.load({ coin, known: true, orders: lines === '' ? [] : lines.split('\n').map(readOrder), isMore })
      coins.add(coin)
      // Blocks and sockets get their turn before the next part.
      await nextTurn()
      talk.reply('next')
    }
    const digestOf = (coin: string) => wanted.digests?.get(coin) ?? EMPTY_DIGEST
    if (ours) this.#reportDrift([...coins].filter((coin) => digestOf(coin) !== books.digest(coin)))
    return { height, books, coins: ours ? coins : 'all' }
  }

  /** Digests of our books at the height of the node's snapshot, once we are there. */
  async #selectionFor(ours: OrderBooks, height: number): Promise<BooksSelection> {
    await waitForHeight(height, this.#host.signal, () => {
      if (this.#host.projector.books !== ours) throw new Error('the books to compare it with are no more')
      const standing = this.#host.projector.availability(height)
      if (standing === 'too old') throw new Error(`its height ${height} is too old to be used`)
      return standing === 'held'
    })
    return { digests: this.#host.projector.digestsAt(height), suspects: ours.suspects }
  }

  #reportDrift(coins: readonly string[]): void {
    this.drifted += coins.length
    if (coins.length > 0) this.#host.log(`${coins.length} books differed from the node's snapshot and are repaired`)
  }
}
