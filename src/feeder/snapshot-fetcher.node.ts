// Decides when the node is asked for its order-level snapshot, and hands what it says to the book keeper: at once while
// books are unknown, soon for a suspect coin, and every few minutes to find drift. A thread does the work; what comes
// over is the coins that differ, in parts.

import { on } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { EMPTY_DIGEST } from '../feed/level-digest.ts'
import type { BookKeeper, SnapshotBooks } from './book-keeper.ts'
import { readOrder } from './checkpoint.ts'
import { sentenceOf } from './node-info.node.ts'
import { OrderBooks } from './order-books.ts'
import { removeOrphans } from './orphans.node.ts'
import type { SnapshotTask, ThreadWords, Wanted } from './snapshot-words.ts'

const THREAD = new URL('./snapshot-thread.node.ts', import.meta.url)
/** What a node wrote for a process, by its id: hundreds of megabytes. */
const SNAPSHOT = /^l4-snapshot-(\d+)-\d+\.json$/
/** The biggest coin of today takes 100 MB to parse. */
const THREAD_HEAP_MB = 384
/** A snapshot costs the node work: not more often than this, whatever the reason. */
const MIN_GAP_MS = 1_000
/** After failures the gap doubles up to this. */
const MAX_GAP_MS = 15_000
/** So long the node's files may need to reach the height of its snapshot. */
const REACH_MS = 60_000
const LOOK_MS = 50

interface SnapshotFetcherOptions {
  readonly infoUrl: string
  readonly snapshotDir: string
  readonly verifyMs: number
}

export class SnapshotFetcher {
  readonly #options: SnapshotFetcherOptions
  readonly #keeper: BookKeeper
  readonly #signal: AbortSignal
  readonly #say: (sentence: string) => void
  #busy = false
  #asked = 0
  #nextAt = 0
  #gapMs = MIN_GAP_MS
  #verifyAt: number | null = null
  #era = 0
  /** Snapshots that were too old, as far as they were told of. */
  #missed = 0
  /** Coins whose levels differed from the node's snapshot, since the start. */
  drifted = 0
  /** Why the node gave no snapshot when last asked; null where it did, or was not asked. */
  trouble: string | null = null

  constructor(
    options: SnapshotFetcherOptions,
    keeper: BookKeeper,
    signal: AbortSignal,
    say: (sentence: string) => void,
  ) {
    this.#options = options
    this.#keeper = keeper
    this.#signal = signal
    this.#say = say
  }

  /** Asks for a snapshot if one is due; the answer reaches the keeper later, between blocks. */
  tick(nowMs: number): void {
    if (this.#keeper.missed > this.#missed) this.#tooOld(nowMs)
    if (this.#keeper.books) this.#verifyAt ??= nowMs + this.#options.verifyMs
    const verify = this.#verifyAt !== null && nowMs >= this.#verifyAt && this.#keeper.isLevel
    if (this.#busy || nowMs < this.#nextAt || !(verify || this.#keeper.wantsSnapshot)) return
    this.#verifyAt = null
    void this.#repair()
  }

  /** What is on its way belongs to an earlier position and is dropped when it comes. */
  forget(): void {
    this.#era++
  }

  /** A whole snapshot for the caller; null where there is none now, which was said. */
  async fetch(): Promise<SnapshotBooks | null> {
    return performance.now() < this.#nextAt ? null : await this.#ask(null)
  }

  async #repair(): Promise<void> {
    this.#busy = true
    const era = this.#era
    const { books } = this.#keeper
    const snapshot = await this.#ask(books)
    this.#busy = false
    if (!snapshot || era !== this.#era || books !== this.#keeper.books) return
    if (snapshot.coins !== 'all') this.#keeper.confirm(snapshot.coins)
    if (snapshot.coins !== 'all' && snapshot.coins.size === 0) return
    this.#keeper.offer(snapshot)
  }

  /** `ours`: compares with these books, and answers what differs of them or is suspect; null: all. */
  async #ask(ours: OrderBooks | null): Promise<SnapshotBooks | null> {
    try {
      const snapshot = await this.#read(ours)
      this.trouble = null
      this.#gapMs = MIN_GAP_MS
      this.#nextAt = performance.now() + this.#gapMs
      return snapshot
    } catch (error) {
      if (!this.#signal.aborted) this.#failed(`no snapshot from the node: ${sentenceOf(error)}`, performance.now())
      return null
    }
  }

  #tooOld(nowMs: number): void {
    this.#missed = this.#keeper.missed
    this.#failed("the node's snapshot is of a height that is too old to be used", nowMs)
  }

  #failed(trouble: string, nowMs: number): void {
    if (trouble !== this.trouble) this.#say(`${trouble}: asking again`)
    this.trouble = trouble
    this.#gapMs = Math.min(MAX_GAP_MS, this.#gapMs * 2)
    this.#nextAt = nowMs + this.#gapMs
  }

  async #read(ours: OrderBooks | null): Promise<SnapshotBooks> {
    const { infoUrl, snapshotDir } = this.#options
    await mkdir(snapshotDir, { recursive: true })
    await removeOrphans(snapshotDir, SNAPSHOT)
    const path = join(snapshotDir, `l4-snapshot-${process.pid}-${++this.#asked}.json`)
    const thread = new Worker(THREAD, {
      workerData: { infoUrl, path } satisfies SnapshotTask,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
      execArgv: [],
    })
    const stop = () => void thread.terminate()
    this.#signal.addEventListener('abort', stop, { once: true })
    try {
      return await this.#listen(thread, ours)
    } finally {
      this.#signal.removeEventListener('abort', stop)
      await thread.terminate()
      await rm(path, { force: true })
    }
  }

  async #listen(thread: Worker, ours: OrderBooks | null): Promise<SnapshotBooks> {
    const books = new OrderBooks()
    const coins = new Set<string>()
    let height = 0
    let wanted: Wanted = { digests: null, suspects: new Set() }
    for await (const [words] of on(thread, 'message', { close: ['exit'] }) as AsyncIterable<[ThreadWords]>) {
      if (words.kind === 'failed') throw new Error(words.sentence)
      if (words.kind === 'end') {
        const digestOf = (coin: string) => wanted.digests?.get(coin) ?? EMPTY_DIGEST
        if (ours) this.#tellDrift([...coins].filter((coin) => digestOf(coin) !== books.digest(coin)))
        return { height, books, coins: ours ? coins : 'all' }
      }
      if (words.kind === 'height') {
        height = words.height
        if (ours) wanted = await this.#wanted(ours, height)
        thread.postMessage(wanted)
        continue
      }
      const { coin, isMore, lines } = words
      books.load({ coin, known: true, orders: lines === '' ? [] : lines.split('\n').map(readOrder), isMore })
      coins.add(coin)
      // Blocks and sockets get their turn before the next part.
      await nextTurn()
      thread.postMessage('next')
    }
    throw new Error('the thread that reads it ended')
  }

  /** Digests of our books at the height of the node's snapshot, once we are there. */
  async #wanted(ours: OrderBooks, height: number): Promise<Wanted> {
    for (const until = performance.now() + REACH_MS; ; await sleep(LOOK_MS, undefined, { signal: this.#signal })) {
      if (this.#keeper.books !== ours) throw new Error('the books to compare it with are no more')
      const standing = this.#keeper.standing(height)
      if (standing === 'held') break
      if (standing === 'too old') throw new Error(`its height ${height} is too old to be used`)
      if (performance.now() > until) throw new Error(`the node's files do not reach its height ${height}`)
    }
    return { digests: this.#keeper.digestsAt(height), suspects: ours.suspects }
  }

  #tellDrift(coins: readonly string[]): void {
    this.drifted += coins.length
    if (coins.length > 0) this.#say(`${coins.length} books differed from the node's snapshot and are repaired`)
  }
}
