// Compares a live book with a server snapshot of the same `seq`, first when the book becomes live and then every 5 s.
// The book changes while the snapshot is in flight, so recent states are kept until one has its `seq`.

import { LevelBook } from '../order-books/level-book.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { CoinBook, Snapshot } from './bootstrap.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import { requestSnapshot } from './snapshot-request.ts'

export type Verdict =
  | { readonly kind: 'in_step'; readonly seq: number; readonly height: number }
  /** `changes`: level changes that would turn the local book into the snapshot. */
  | { readonly kind: 'differs'; readonly seq: number; readonly height: number; readonly changes: Levels }

/** States kept while a snapshot is in flight: about four seconds at 14.5 blocks/s. */
const MAX_STATES = 64

export class StepCheck {
  readonly #states: { readonly epoch: string; readonly seq: number; readonly levels: Levels }[] = []
  #snapshot: Snapshot | null = null

  /** Starts with the book's current state. Call it before the snapshot request. */
  constructor(book: CoinBook) {
    this.#recordState(book)
  }

  /** The book changed. Returns a verdict if the snapshot waited for this state. */
  changed(book: CoinBook): Verdict | null {
    this.#recordState(book)
    return this.#verdict()
  }

  /**
   * The snapshot arrived. Null: its `seq` is ahead of the book, so wait for `changed`. `stale`: no state has its epoch
   * and `seq`, nor can any later one.
   */
  snapshot(snapshot: Snapshot): Verdict | 'stale' | null {
    this.#snapshot = snapshot
    const last = this.#states.at(-1)
    if (!last || last.epoch !== snapshot.epoch) return 'stale'
    return this.#verdict() ?? (snapshot.seq > last.seq ? null : 'stale')
  }

  #recordState(book: CoinBook): void {
    if (!book.live || this.#states.at(-1)?.seq === book.seq) return
    this.#states.push({ epoch: book.epoch, seq: book.seq, levels: book.levels() })
    if (this.#states.length > MAX_STATES) this.#states.shift()
  }

  #verdict(): Verdict | null {
    const snapshot = this.#snapshot
    if (!snapshot) return null
    const localState = this.#states.find((state) => state.epoch === snapshot.epoch && state.seq === snapshot.seq)
    if (!localState) return null
    const changes = LevelBook.of(localState.levels).changesTo(LevelBook.of(snapshot.levels))
    const { seq, height } = snapshot
    if (changes[0].length + changes[1].length === 0) return { kind: 'in_step', seq, height }
    return { kind: 'differs', seq, height, changes }
  }
}

const CHECK_EVERY_MS = 5_000
/** Delay after a comparison that failed because the book or the gateway was moving. */
const RETRY_MS = 250
/** If a snapshot stays ahead of the book for this long, the stream has stalled. */
const WAIT_MAX_MS = 2_000

export class StepChecker {
  readonly #runtime: ClientRuntime
  readonly #endpoint: () => Endpoint | null
  readonly #verdict: (coin: string, verdict: Verdict) => void
  #book: CoinBook | null = null
  #check: StepCheck | null = null
  #stop: () => void = () => {}

  constructor(
    runtime: ClientRuntime,
    endpoint: () => Endpoint | null,
    verdict: (coin: string, verdict: Verdict) => void,
  ) {
    this.#runtime = runtime
    this.#endpoint = endpoint
    this.#verdict = verdict
  }

  /** The book is live and changed. The first call starts the checks. */
  changed(book: CoinBook): void {
    if (this.#book !== book) {
      this.#book = book
      void this.#begin(book)
      return
    }
    const verdict = this.#check?.changed(book)
    if (verdict) this.#done(book, verdict)
  }

  /** The book is out of step or no longer watched. Nothing runs until `changed`. */
  lost(): void {
    this.#book = null
    this.#check = null
    this.#stop()
  }

  async #begin(book: CoinBook): Promise<void> {
    this.#stop()
    const check = new StepCheck(book)
    this.#check = check
    const outcome = await requestSnapshot(this.#runtime, this.#endpoint(), book.coin)
    if (this.#check !== check) return
    const verdict = outcome.kind === 'snapshot' ? check.snapshot(outcome.snapshot) : 'stale'
    if (verdict === 'stale') this.#schedule(book, RETRY_MS)
    else if (verdict === null) this.#schedule(book, WAIT_MAX_MS)
    else this.#done(book, verdict)
  }

  #done(book: CoinBook, verdict: Verdict): void {
    this.#check = null
    this.#schedule(book, CHECK_EVERY_MS)
    this.#verdict(book.coin, verdict)
  }

  #schedule(book: CoinBook, inMs: number): void {
    this.#stop()
    this.#stop = this.#runtime.after(inMs, () => void this.#begin(book))
  }
}
