// Circuit breaker: after a run of failures a source is paused, then tried with a single request.
//
//   closed ──5 failures in a row──▶ suspect ──judged──▶ open ──pause over──▶ one probe
//   one probe ──success──▶ closed, ──failure──▶ open for twice as long
//
// The failing request itself may be at fault. So repeating the same request does not count, and before a pause starts
// or grows the owner sends a known-good request (`tryClaimJudgment`, then `open` or `recordSuccess`). So no caller can
// block a source for others. Callers pass the time. A probe that has no outcome (its isolate died) is replaced.
// Requests in flight when the breaker opened are not probes: their failures extend no pause, and only their success
// ends one.

const FAILURES_TO_OPEN = 5
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** Longest pause that a source may request. A longer remaining pause means that the clock was set back. */
export const LONGEST_REST_MS = 60_000
/** Maximum age of a probe. It is longer than any attempt takes. */
const PROBE_LOST_MS = 10_000

export class Breaker {
  #failures = 0
  #pauseMs = 0
  #closedFrom = 0
  #isProbing = false
  /** Distinct failed requests. */
  readonly #requests = new Set<string>()
  #isSuspect = false
  #judgeFrom = 0
  #restUntil = 0

  /** True if a request may be sent now; while half open, for one caller only. */
  tryPass(now: number): boolean {
    if (this.waitMs(now) > 0) return false
    if (this.#pauseMs > 0) {
      this.#isProbing = true
      this.#closedFrom = now + PROBE_LOST_MS
    }
    return true
  }

  /** True while the breaker is open or half open. The next request then decides. */
  get isHalfOpen(): boolean {
    return this.#pauseMs > 0
  }

  /** Milliseconds until the next request may pass; 0 if it may pass now. */
  waitMs(now: number): number {
    const pauseMs = this.#closedFrom - now
    return Math.max(this.restMs(now), pauseMs > LONGEST_PAUSE_MS ? 0 : pauseMs)
  }

  /** Part of the wait that the source requested. */
  restMs(now: number): number {
    const restMs = this.#restUntil - now
    return restMs > LONGEST_REST_MS ? 0 : Math.max(0, restMs)
  }

  recordSuccess(): void {
    this.#endJudgment()
    this.#failures = 0
    this.#requests.clear()
    this.#pauseMs = 0
    this.#closedFrom = 0
    this.#isProbing = false
  }

  /**
   * Records a failure. `request` identifies repeated requests, which count once; null counts each one. `surely`: the
   * request cannot be at fault. Otherwise no pause starts or grows before `tryClaimJudgment`.
   */
  recordFailure(now: number, request: string | null, surely = false): void {
    const isOpen = this.#pauseMs > 0
    if (!isOpen && request !== null && this.#requests.has(request)) return
    this.#failures++
    if (request !== null && this.#requests.size < FAILURES_TO_OPEN) this.#requests.add(request)
    if (isOpen ? !this.#isProbing : this.#failures < FAILURES_TO_OPEN) return
    this.#isSuspect = true
    if (surely) this.open(now)
  }

  /** True for one caller if failures must be judged and nobody is judging them. */
  tryClaimJudgment(now: number): boolean {
    const waitMs = this.#judgeFrom - now
    if (!this.#isSuspect || (waitMs > 0 && waitMs <= PROBE_LOST_MS)) return false
    this.#judgeFrom = now + PROBE_LOST_MS
    return true
  }

  /** Pauses the source, because it is at fault. Does nothing if a request has succeeded meanwhile. */
  open(now: number): void {
    if (!this.#isSuspect) return
    this.#endJudgment()
    this.#isProbing = false
    this.#pauseMs = Math.min(this.#pauseMs === 0 ? FIRST_PAUSE_MS : this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#closedFrom = now + this.#pauseMs
  }

  /** Pauses the source at its own request. The pause does not affect its health. */
  rest(until: number): void {
    this.#restUntil = Math.max(this.#restUntil, until)
    this.abandonJudgment()
  }

  /** Ends an attempt that had no result for this breaker. Another caller may then probe. */
  abandonJudgment(): void {
    this.#endJudgment()
    if (!this.#isProbing) return
    this.#isProbing = false
    this.#closedFrom = 0
  }

  #endJudgment(): void {
    this.#isSuspect = false
    this.#judgeFrom = 0
  }
}
