// Compares a live book with the server's snapshot of the same `seq`: as soon as the book is live, and every 5 s from then on.
// The book moves while the snapshot travels, so the states of the meantime are kept until one of them has its seq.

import { LevelBook } from '../order-books/level-book.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { CoinBook, Snapshot } from './bootstrap.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import { requestSnapshot } from './snapshot-request.ts'

export type Verdict =
  | { readonly kind: 'in_step'; readonly seq: number; readonly height: number }
  /** `changes`: what would turn the local book into the snapshot, levels of both sides. */
  | { readonly kind: 'differs'; readonly seq: number; readonly height: number; readonly changes: Levels }

/** States kept while a snapshot travels: at 14.5 blocks/s about four seconds. */
const MAX_STATES = 64

export class StepCheck {
  readonly #states: { readonly epoch: string; readonly seq: number; readonly levels: Levels }[] = []
  #snapshot: Snapshot | null = null

  /** Begins with the book's present state; call before the snapshot is asked for. */
  constructor(book: CoinBook) {
    this.#recordState(book)
  }

  /** The book changed. A verdict where the snapshot waited for this state. */
  changed(book: CoinBook): Verdict | null {
    this.#recordState(book)
    return this.#verdict()
  }

  /**
   * The snapshot came. Null: its seq is still ahead of the book, wait for `changed`;
   * `stale`: no kept state has its epoch and seq, or can have any more.
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
    const local = this.#states.find((kept) => kept.epoch === snapshot.epoch && kept.seq === snapshot.seq)
    if (!local) return null
    const changes = LevelBook.of(local.levels).changesTo(LevelBook.of(snapshot.levels))
    const { seq, height } = snapshot
    if (changes[0].length + changes[1].length === 0) return { kind: 'in_step', seq, height }
    return { kind: 'differs', seq, height, changes }
  }
}

const CHECK_EVERY_MS = 5_000
/** After a comparison that could not be made: the book or the gateway was moving. */
const RETRY_MS = 250
/** A snapshot that stays ahead of the book so long means that the stream stands. */
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

  /** The book is live and changed; the first call begins. */
  changed(book: CoinBook): void {
    if (this.#book !== book) {
      this.#book = book
      void this.#begin(book)
      return
    }
    const verdict = this.#check?.changed(book)
    if (verdict) this.#done(book, verdict)
  }

  /** The book is out of step or the watch is over: nothing more until `changed`. */
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
