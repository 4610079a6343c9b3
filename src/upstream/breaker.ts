// A circuit breaker: after a run of failures a source is left alone for a while, then tried with a single request.
//
//   closed ──5 failures in a row──▶ open ──pause over──▶ one probe ──▶ closed, or open for twice as long
//
// Time is an argument. A probe whose outcome never comes (its isolate died) gives way to another. Requests that were
// under way when it opened are not probes: many that fail together lengthen no pause, and end none but by success.

const FAILURES_TO_OPEN = 5
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** The most that a source may ask for. What is further away was set before the clock was set back. */
export const LONGEST_REST_MS = 60_000
/** Longer than any attempt can take. */
const PROBE_LOST_MS = 10_000

export class Breaker {
  #failures = 0
  #pauseMs = 0
  #closedFrom = 0
  #isProbing = false
  #restUntil = 0

  /** True where a request may be sent now; while half open, true for one caller only. */
  tryPass(now: number): boolean {
    if (this.waitMs(now) > 0) return false
    if (this.#pauseMs > 0) {
      this.#isProbing = true
      this.#closedFrom = now + PROBE_LOST_MS
    }
    return true
  }

  /** Open, or half open: the next request decides. */
  get isOnTrial(): boolean {
    return this.#pauseMs > 0
  }

  /** Milliseconds until the next request may pass, 0 if it may now. */
  waitMs(now: number): number {
    const [restMs, pauseMs] = [this.#restUntil - now, this.#closedFrom - now]
    return Math.max(0, restMs > LONGEST_REST_MS ? 0 : restMs, pauseMs > LONGEST_PAUSE_MS ? 0 : pauseMs)
  }

  succeeded(): void {
    this.#failures = 0
    this.#pauseMs = 0
    this.#closedFrom = 0
    this.#isProbing = false
  }

  failed(now: number): void {
    this.#failures++
    if (this.#pauseMs === 0 ? this.#failures < FAILURES_TO_OPEN : !this.#isProbing) return
    this.#isProbing = false
    this.#pauseMs = Math.min(this.#pauseMs === 0 ? FIRST_PAUSE_MS : this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#closedFrom = now + this.#pauseMs
  }

  /** The source asked to be left alone until then; says nothing about its health. */
  rest(until: number): void {
    this.#restUntil = Math.max(this.#restUntil, until)
    this.undecided()
  }

  /** The attempt said nothing about what this breaker guards: another may probe at once. */
  undecided(): void {
    if (!this.#isProbing) return
    this.#isProbing = false
    this.#closedFrom = 0
  }
}
