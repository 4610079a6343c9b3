// When one question is to be asked again. Laws: once at a time; never twice within a second; soon after something happened
// that may change the answer, and once more when every source must know of it; after a failure ever more seldom, and
// once more where another that had failed is answered again.

import { backoffMs } from '../../core/backoff.ts'

const GAP_MS = 1_000
/** A source may learn of what happened so much later than the blocks say it. */
const LATE_MS = 2_000
const RETRY = { firstMs: 1_000, capMs: 30_000, jitter: 0 }

export class Pace {
  #dueMs: number
  #askedMs = Number.NEGATIVE_INFINITY
  #happenedMs = Number.NEGATIVE_INFINITY
  #isAsking = false
  #fails = 0

  constructor(nowMs: number) {
    this.#dueMs = nowMs
  }

  isDue(nowMs: number): boolean {
    return !this.#isAsking && this.#dueMs <= nowMs
  }

  /** Its turn has not come, or its answer. */
  get isAsking(): boolean {
    return this.#isAsking
  }

  /** Times that it was asked since there was an answer. */
  get fails(): number {
    return this.#fails
  }

  /** Somebody waits for an answer. */
  hasten(nowMs: number): void {
    if (!this.#isAsking && this.#fails === 0) this.#dueBy(Math.max(nowMs, this.#askedMs + GAP_MS))
  }

  /** Something happened that may change the answer. */
  happened(nowMs: number): void {
    this.#happenedMs = nowMs
    this.hasten(nowMs)
  }

  /** It waits for its turn. */
  begin(): void {
    this.#isAsking = true
  }

  asked(nowMs: number): void {
    this.#askedMs = nowMs
  }

  /** There is an answer. Whoever makes questions due together has them due together again. */
  landed(nowMs: number, everyMs: number): void {
    this.#isAsking = false
    this.#fails = 0
    this.#dueMs = Math.max(this.#dueMs + everyMs, nowMs + everyMs / 2)
    const knownMs = this.#happenedMs + LATE_MS
    if (this.#askedMs >= knownMs) return
    const isMissed = this.#askedMs <= this.#happenedMs
    this.#dueBy(Math.max(this.#askedMs + GAP_MS, isMissed ? nowMs : knownMs))
  }

  /** The source of another question that failed answers again. */
  recovered(nowMs: number): void {
    if (!this.#isAsking && this.#fails > 0) this.#dueBy(Math.max(nowMs, this.#askedMs + GAP_MS))
  }

  failed(nowMs: number): void {
    this.#isAsking = false
    this.#dueMs = nowMs + backoffMs(RETRY, this.#fails++, 0)
  }

  #dueBy(atMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, atMs)
  }
}
