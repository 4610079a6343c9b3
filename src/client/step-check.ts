// Compares a live book with a server snapshot of the same `seq`, first when the book becomes live and then every 5 s.
// The book changes while the snapshot is in flight. Recent states are therefore kept until one of them has the `seq` of
// the snapshot.

import { LevelBook } from '../order-books/level-book.ts'
import type { Levels } from '../protocol/feed/block.ts'
import type { CoinBook, Snapshot } from './bootstrap.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import { requestSnapshot } from './snapshot-request.ts'

export type Verdict =
  | { readonly kind: 'in_step'; readonly seq: number; readonly height: number }
  /** `changes`: the level changes that would turn the local book into the snapshot. */
  | { readonly kind: 'differs'; readonly seq: number; readonly height: number; readonly changes: Levels }

/** Maximum number of states to keep while a snapshot is in flight: about four seconds at 14.5 blocks/s. */
const MAX_STATES = 64

export class StepCheck {
  readonly #states: { readonly epoch: string; readonly seq: number; readonly levels: Levels }[] = []
  #snapshot: Snapshot | null = null

  /** Starts with the current state of the book. Create it before the snapshot is requested. */
  constructor(book: CoinBook) {
    this.#recordState(book)
  }

  /** Handles a change of the book. Returns a verdict if the snapshot has arrived and waits for this state. */
  changed(book: CoinBook): Verdict | null {
    this.#recordState(book)
    return this.#verdict()
  }

  /**
   * Handles the snapshot. Returns null if its `seq` is ahead of the book; `changed` will then return the verdict.
   * `stale`: no state has its epoch and `seq`, and no later state can have them.
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
/** Delay after a comparison that failed because the book or the gateway advanced. */
const RETRY_MS = 250
/** If a snapshot is ahead of the book for this long, the stream has stalled. */
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

  /** Handles a change of a live book. The first call starts the checks. */
  changed(book: CoinBook): void {
    if (this.#book !== book) {
      this.#book = book
      void this.#begin(book)
      return
    }
    const verdict = this.#check?.changed(book)
    if (verdict) this.#done(book, verdict)
  }

  /** Stops the checks until `changed` is called, because the book is out of step or no longer watched. */
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
