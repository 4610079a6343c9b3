// Compares one book with the server's snapshot of the same seq, as soon as the book is live and every 5 s from then on.

import type { CoinBook } from './bootstrap.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import { requestSnapshot } from './snapshot-request.ts'
import { StepCheck, type Verdict } from './step-check.ts'

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
    if (verdict === 'stale') this.#again(book, RETRY_MS)
    else if (verdict === null) this.#again(book, WAIT_MAX_MS)
    else this.#done(book, verdict)
  }

  #done(book: CoinBook, verdict: Verdict): void {
    this.#check = null
    this.#again(book, CHECK_EVERY_MS)
    this.#verdict(book.coin, verdict)
  }

  #again(book: CoinBook, inMs: number): void {
    this.#stop()
    this.#stop = this.#runtime.after(inMs, () => void this.#begin(book))
  }
}
