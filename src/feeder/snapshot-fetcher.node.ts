// Decides when the node is asked for its order-level snapshot, and hands it to the book keeper: at once while books
// are unknown, soon for a suspect coin, and every few minutes to find drift.

import type { BookKeeper, SnapshotBooks } from './book-keeper.ts'
import { fetchSnapshot, sentenceOf } from './node-info.node.ts'

/** A snapshot costs the node work: not more often than this, whatever the reason. */
const MIN_GAP_MS = 1_000
/** After failures the gap doubles up to this. */
const MAX_GAP_MS = 15_000

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
  #nextAt = 0
  #gapMs = MIN_GAP_MS
  #verifyAt: number | null = null
  #era = 0
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
    if (this.#keeper.books) this.#verifyAt ??= nowMs + this.#options.verifyMs
    const verify = this.#verifyAt !== null && nowMs >= this.#verifyAt
    if (this.#busy || nowMs < this.#nextAt || !(verify || this.#keeper.wantsSnapshot)) return
    this.#verifyAt = null
    void this.#ask()
  }

  /** What is on its way belongs to an earlier position and is dropped when it comes. */
  forget(): void {
    this.#era++
  }

  /** A snapshot for the caller; null where the node gave none, which was said. */
  async fetch(): Promise<SnapshotBooks | null> {
    try {
      const snapshot = await fetchSnapshot(this.#options.infoUrl, this.#options.snapshotDir, this.#signal)
      this.#gapMs = MIN_GAP_MS
      this.trouble = null
      return snapshot
    } catch (error) {
      this.#gapMs = Math.min(MAX_GAP_MS, this.#gapMs * 2)
      if (this.#signal.aborted) return null
      this.trouble = `no snapshot from the node: ${sentenceOf(error)}`
      this.#say(this.trouble)
      return null
    }
  }

  async #ask(): Promise<void> {
    this.#busy = true
    const era = this.#era
    const snapshot = await this.fetch()
    this.#busy = false
    this.#nextAt = Date.now() + this.#gapMs
    if (!snapshot || era !== this.#era) return
    const { drifted } = this.#keeper
    if (!this.#keeper.offer(snapshot))
      this.#say(`the node's snapshot of height ${snapshot.height} is too old to be used: asking again`)
    else if (this.#keeper.drifted > drifted)
      this.#say(`${this.#keeper.drifted - drifted} books differed from the node's snapshot and were repaired`)
  }
}
