// Keeps the books of one subscription current with `l2BookDiff2`. It fetches a snapshot of each coin with
// `l2BookDiffSnapshot`, a few at a time, and fetches that snapshot again after every gap and checksum mismatch.

import { type Backoff, backoffMs } from '../core/backoff.ts'
import { getOrCreate } from '../core/get-or-create.ts'
import type { Step } from './api.ts'
import { type BatchHead, CoinBook, type CoinChange, type Snapshot } from './bootstrap.ts'
import type { Connection } from './connection.ts'
import { RETRY } from './connection-options.ts'
import type { ClientRuntime } from './runtime.ts'
import type { DataFrame } from './server-frame.ts'
import { requestSnapshot, type SnapshotOutcome } from './snapshot-request.ts'
import { type BookScope, bookBody, isInScope, listedCoins, type SubscriptionBody } from './subscription.ts'
import { BY_STATUS } from './weir-error.ts'
import type { ChannelTypes } from './wire.ts'

export interface BookListener {
  /** The book is live and has changed or was just fetched. */
  changed?(book: CoinBook): void
  /** The book is out of step and is being fetched again. */
  gap?(coin: string, reason: string): void
  /** A book's sync state has changed, or that of all books together if `coin` is null. `why` is empty if in step. */
  step?: (coin: string | null, step: Step, why: string) => void
  /** The gateway does not have this coin. */
  unknown?(coin: string): void
  /** A block of the stream arrived. It may have changed no book. */
  block?(head: BatchHead): void
  /** The gateway rejected this subscription or its snapshots. */
  refused?(reason: string, code?: string): void
}

/** Maximum number of concurrent snapshot requests. */
const MAX_FETCHES = 4
/** Delay before an unknown coin is requested again, because it may be listed later. */
const UNKNOWN_RETRY_MS = 5_000
/** Delay after repeated checksum mismatches. Snapshots cost credits, and the next one would rarely help. */
const MISMATCH_RETRY: Backoff = { firstMs: 1_000, capMs: 60_000, jitter: 0.5 }

interface Fetch {
  /** Number of attempts since the coin was last live. */
  attempt: number
  /** Cancels the wait before the next attempt. */
  stop: () => void
}

export class DiffBooks {
  readonly #books = new Map<string, CoinBook>()
  readonly #status: SyncStatus
  readonly #connection: Connection
  readonly #runtime: ClientRuntime
  readonly #listener: BookListener
  readonly #body: SubscriptionBody
  readonly #fetches = new Map<string, Fetch>()
  readonly #queue: string[] = []
  #running = 0
  /** Number of times that the stream was lost. A snapshot that was requested before the last loss is useless. */
  #generation = 0
  /** Number of consecutive checksum mismatches per coin. */
  readonly #mismatches = new Map<string, number>()
  readonly #unsubscribe: () => void

  constructor(connection: Connection, runtime: ClientRuntime, scope: BookScope, listener: BookListener) {
    this.#connection = connection
    this.#runtime = runtime
    this.#listener = listener
    this.#status = new SyncStatus((coin, step, why) => listener.step?.(coin, step, why))
    this.#body = bookBody(scope)
    this.#unsubscribe = connection.subscribe(this.#body, {
      live: () => this.#onLive(),
      lost: (reason) => this.#onLost(reason),
      frame: (frame) => this.#onFrame(frame),
      refused: (reason, code) => listener.refused?.(reason, code),
    })
  }

  close(): void {
    this.#unsubscribe()
    this.#onLost('closed')
  }

  /** The book of a coin, whether it is live or not; undefined before its first batch. */
  get(coin: string): CoinBook | undefined {
    return this.#books.get(coin)
  }

  /**
   * The sync state of a coin, or of all coins together. Undefined if the server does not have the coin, or if nothing
   * has arrived on this connection.
   */
  step(coin: string): Step | undefined
  step(coin?: null): Step
  step(coin: string | null = null): Step | undefined {
    return coin === null ? this.#status.overall : this.#status.of(coin)
  }

  coins(): IterableIterator<string> {
    return this.#books.keys()
  }

  #onLive(): void {
    for (const coin of listedCoins(this.#body) ?? this.#books.keys()) this.#scheduleFetch(this.#bookOf(coin), 0)
  }

  #onLost(reason: string): void {
    this.#generation++
    for (const fetch of this.#fetches.values()) fetch.stop()
    this.#fetches.clear()
    this.#queue.length = 0
    this.#running = 0
    for (const book of this.#books.values()) {
      const wasLive = book.live
      book.lost(reason)
      this.#status.set(book.coin, 'out of step', reason)
      if (wasLive) this.#listener.gap?.(book.coin, reason)
    }
  }

  #onFrame(frame: DataFrame): void {
    if (frame.channel !== 'l2BookDiff2') return
    const batch = frame.data.Updates
    const head = { epoch: batch.epoch, height: batch.block_height, time: batch.time }
    this.#listener.block?.(head)
    const changes = changesOf(batch, this.#body)
    for (const coin of changes.keys()) this.#bookOf(coin)
    for (const book of this.#books.values()) this.#applyBatch(book, head, changes.get(book.coin) ?? null)
  }

  #applyBatch(book: CoinBook, head: BatchHead, change: CoinChange | null): void {
    const outcome = book.batch(head, change)
    if (outcome === 'applied') {
      if (change?.checksum !== undefined) this.#mismatches.delete(book.coin)
      this.#listener.changed?.(book)
    } else if (outcome === 'refetch' || outcome === 'differs') {
      this.#status.set(book.coin, 'out of step', book.why)
      this.#listener.gap?.(book.coin, book.why)
      this.#scheduleFetch(book, outcome === 'differs' ? this.#mismatchDelayMs(book) : 0)
    } else if (outcome === 'buffered' && change) this.#scheduleFetch(book, 0)
  }

  #bookOf(coin: string): CoinBook {
    return getOrCreate(this.#books, coin, () => {
      this.#status.set(coin, 'syncing')
      return new CoinBook(coin)
    })
  }

  /** Makes sure that a snapshot of the coin is being fetched, or will be after `waitMs`. */
  #scheduleFetch(book: CoinBook, waitMs: number): void {
    if (waitMs === 0 && this.#fetches.has(book.coin)) return
    const fetch = getOrCreate(this.#fetches, book.coin, () => ({ attempt: 0, stop: () => {} }))
    const enqueue = () => {
      if (this.#status.of(book.coin)) this.#status.set(book.coin, 'syncing', book.why)
      this.#queue.push(book.coin)
      this.#startFetches()
    }
    if (waitMs > 0) fetch.stop = this.#runtime.after(waitMs, enqueue)
    else enqueue()
  }

  #startFetches(): void {
    while (this.#running < MAX_FETCHES) {
      const coin = this.#queue.shift()
      if (coin === undefined) return
      this.#running++
      void this.#fetch(this.#bookOf(coin), this.#generation)
    }
  }

  async #fetch(book: CoinBook, generation: number): Promise<void> {
    book.fetchStarted()
    const outcome = await requestSnapshot(this.#runtime, this.#connection.endpoint(), book.coin)
    if (generation !== this.#generation) return
    this.#running--
    this.#onOutcome(book, outcome)
    this.#startFetches()
  }

  #onOutcome(book: CoinBook, outcome: SnapshotOutcome): void {
    switch (outcome.kind) {
      case 'snapshot':
        this.#seed(book, outcome.snapshot)
        break
      case 'later':
        this.#retryFetch(book, outcome.retryAfterMs)
        break
      case 'unknown':
        this.#status.forget(book.coin)
        this.#listener.unknown?.(book.coin)
        this.#retryFetch(book, UNKNOWN_RETRY_MS)
        break
      case 'refused':
        // The fetch stays registered, so that no diff starts another fetch before the next connection.
        this.#status.set(book.coin, 'out of step', outcome.reason)
        this.#listener.refused?.(outcome.reason, BY_STATUS[outcome.status])
    }
  }

  #seed(book: CoinBook, snapshot: Snapshot): void {
    const outcome = book.snapshot(snapshot)
    if (outcome !== 'live') {
      if (outcome === 'differs') this.#status.set(book.coin, 'out of step', book.why)
      this.#retryFetch(book, outcome === 'differs' ? this.#mismatchDelayMs(book) : 0)
      return
    }
    this.#fetches.delete(book.coin)
    this.#status.set(book.coin, 'in step')
    this.#listener.changed?.(book)
  }

  /** Returns the delay before refetching after a checksum mismatch. */
  #mismatchDelayMs({ coin }: CoinBook): number {
    const count = this.#mismatches.get(coin) ?? 0
    this.#mismatches.set(coin, count + 1)
    return count === 0 ? 0 : backoffMs(MISMATCH_RETRY, count - 1, this.#runtime.random())
  }

  #retryFetch(book: CoinBook, atLeastMs: number): void {
    const fetch = this.#fetches.get(book.coin)
    if (!fetch) return
    this.#scheduleFetch(book, Math.max(1, atLeastMs, backoffMs(RETRY, fetch.attempt++, this.#runtime.random())))
  }
}

function changesOf(
  batch: ChannelTypes['l2BookDiff2']['frame']['data']['Updates'],
  body: SubscriptionBody,
): Map<string, CoinChange> {
  const changes = new Map<string, CoinChange>()
  for (const { coin, seq, prev_seq: prevSeq, levels, checksum } of batch.book_diffs)
    if (isInScope(body, coin)) changes.set(coin, { seq, prevSeq, levels, checksum })
  return changes
}

/** The sync state of each coin and of all coins together. Reports changes. */
class SyncStatus {
  readonly #onChange: NonNullable<BookListener['step']>
  readonly #steps = new Map<string, Step>()
  overall: Step = 'syncing'

  constructor(onChange: NonNullable<BookListener['step']>) {
    this.#onChange = onChange
  }

  /** The state of a coin; undefined if the coin is unknown. */
  of(coin: string): Step | undefined {
    return this.#steps.get(coin)
  }

  /** Forgets a coin. */
  forget(coin: string): void {
    this.#steps.delete(coin)
    this.#updateOverall('')
  }

  set(coin: string, step: Step, why = ''): void {
    const previous = this.of(coin)
    this.#steps.set(coin, step)
    if ((previous ?? 'syncing') !== step) this.#onChange(coin, step, why)
    this.#updateOverall(why)
  }

  #updateOverall(why: string): void {
    const steps = new Set(this.#steps.values())
    const overall =
      (['out of step', 'syncing'] as const).find((state) => steps.has(state)) ??
      (steps.size > 0 ? 'in step' : 'syncing')
    if (overall === this.overall) return
    this.overall = overall
    this.#onChange(null, overall, why)
  }
}
