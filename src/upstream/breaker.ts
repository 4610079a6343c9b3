// A circuit breaker: after a run of failures a source is left alone for a while, then tried with a single request.
//
//   closed ──5 failures in a row──▶ suspect ──judged──▶ open ──pause over──▶ one probe ──▶ closed, or open for twice as long
//
// What fails may be the request: the same one again is no news, and before a pause begins or grows the owner asks
// something that is known to be good (`tryDecide`, then `condemned` or `succeeded`). So no caller can close a source for others.
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
  /** Distinct requests among the failures. */
  readonly #requests = new Set<string>()
  #isSuspect = false
  #judgeFrom = 0
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
  get isHalfOpen(): boolean {
    return this.#pauseMs > 0
  }

  /** Milliseconds until the next request may pass, 0 if it may now. */
  waitMs(now: number): number {
    const pauseMs = this.#closedFrom - now
    return Math.max(this.restMs(now), pauseMs > LONGEST_PAUSE_MS ? 0 : pauseMs)
  }

  /** The part of that which the source asked for. */
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
   * A failure. `request`: which another of the same says nothing more about, null where each one counts. `surely`: no
   * request can be at fault. Otherwise nothing opens or lengthens a pause until `tryDecide` has found out.
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

  /** Whether failures are to be judged, and nobody has begun to: true for one caller only. */
  tryClaimJudgment(now: number): boolean {
    const waitMs = this.#judgeFrom - now
    if (!this.#isSuspect || (waitMs > 0 && waitMs <= PROBE_LOST_MS)) return false
    this.#judgeFrom = now + PROBE_LOST_MS
    return true
  }

  /** The source is at fault, unless it has answered meanwhile. */
  open(now: number): void {
    if (!this.#isSuspect) return
    this.#endJudgment()
    this.#isProbing = false
    this.#pauseMs = Math.min(this.#pauseMs === 0 ? FIRST_PAUSE_MS : this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#closedFrom = now + this.#pauseMs
  }

  /** The source asked to be left alone until then; says nothing about its health. */
  rest(until: number): void {
    this.#restUntil = Math.max(this.#restUntil, until)
    this.abandonJudgment()
  }

  /** The attempt said nothing about what this breaker guards: another may probe at once. */
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
