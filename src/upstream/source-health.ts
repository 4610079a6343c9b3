// Health of one source in an isolate. A source that fails for one type is paused for that type. A source that is
// down, or requested a pause, is paused completely. If requests themselves may be at fault, known-good requests decide.

import { Breaker } from './breaker.ts'
import type { Outcome } from './outcome.ts'

export interface HealthView {
  readonly state: 'ok' | 'resting'
  /** Time until the next request may pass; 0 if it may pass now. */
  readonly retryInMs: number
  /** Types for which the source is paused. */
  readonly failingTypes: readonly string[]
  readonly lastSuccessMs: number | null
  readonly lastFailure: { readonly atMs: number; readonly type: string; readonly reason: FailureReason } | null
  /** Median latency of recent responses. */
  readonly medianMs: number | null
}

type FailureReason = 'timeout' | 'unreachable' | 'busy' | 'failed'

/** Latency samples for the median. */
const SAMPLES = 32
/** If a source rejects a type that another source serves, it is used last for that type for this long. */
const UNSERVED_MS = 600_000

export class SourceHealth {
  readonly #overall = new Breaker()
  readonly #byType = new Map<string, Breaker>()
  readonly #exampleOf: (type: string) => string | undefined
  /** Last successful request of each type. */
  readonly #lastGood = new Map<string, string>()
  readonly #unservedUntilMs = new Map<string, number>()
  readonly #latencies: number[] = []
  #samples = 0
  #lastSuccessMs: number | null = null
  #lastFailure: HealthView['lastFailure'] = null

  /** `exampleOf` returns a request of a type that every source of that type should serve. */
  constructor(exampleOf: (type: string) => string | undefined) {
    this.#exampleOf = exampleOf
  }

  /** Milliseconds until a request of this type may pass; 0 if it may pass now. */
  waitMs(type: string, nowMs: number): number {
    return Math.max(this.#overall.waitMs(nowMs), this.#breaker(type).waitMs(nowMs))
  }

  /** Remaining pause requested by the source, in ms. */
  restMs(nowMs: number): number {
    return this.#overall.restMs(nowMs)
  }

  /**
   * True if the source was down at the last request. The next request decides whether it is up again, and should come
   * from a caller.
   */
  get isHalfOpen(): boolean {
    return this.#overall.isHalfOpen
  }

  /** True if a request of this type may be sent now; while half open, for one caller only. */
  tryPass(type: string, nowMs: number): boolean {
    return this.waitMs(type, nowMs) === 0 && this.#overall.tryPass(nowMs) && this.#breaker(type).tryPass(nowMs)
  }

  /** `isProbe`: sent to judge the source; `judge` receives the result. */
  record(type: string, body: string, outcome: Outcome, tookMs: number, nowMs: number, isProbe = false): void {
    if (outcome.kind === 'answer') this.#recordAnswer(type, body, tookMs, nowMs)
    const reason = reasonOf(outcome)
    if (reason !== null) this.#lastFailure = { atMs: nowMs, type, reason }
    const one = this.#breaker(type)
    if (outcome.kind === 'busy') {
      this.#overall.rest(nowMs + outcome.restMs)
      one.abandonJudgment()
      return
    }
    const away = isAway(outcome)
    const isDoubtful = outcome.kind === 'broken' || (outcome.kind === 'refused' && !outcome.sure)
    if (!away) this.#overall.recordSuccess()
    if (!away && !isDoubtful) one.recordSuccess()
    if (isProbe) return
    const request = this.#isKnownGood(type, body, outcome) ? null : body
    if (away) {
      this.#overall.recordFailure(nowMs, request, outcome.kind === 'broken' && outcome.surely === true)
      one.abandonJudgment()
    } else if (isDoubtful) one.recordFailure(nowMs, request)
  }

  /** True for one caller if failures of this type, or of all types, must be judged. */
  tryClaimJudgment(type: string, nowMs: number): boolean {
    const ofAll = this.#overall.tryClaimJudgment(nowMs)
    return this.#breaker(type).tryClaimJudgment(nowMs) || ofAll
  }

  /**
   * Known-good requests. A response to any of them means that the source is healthy and the failed requests were at
   * fault.
   */
  probes(type: string): readonly string[] {
    return [...new Set([this.#lastGood.get(type), this.#exampleOf(type)])].filter((body) => body !== undefined)
  }

  /** A known-good request of another type. */
  otherProbe(type: string): readonly [type: string, body: string] | undefined {
    return [...this.#lastGood].findLast(([other]) => other !== type)
  }

  /** Call it if no probe of this type succeeded. `last` is the outcome of the last probe, null if there was none. */
  judge(type: string, last: Outcome | null, nowMs: number): void {
    const one = this.#breaker(type)
    // An example may name something that does not exist on this chain. Its rejection says nothing about a source
    // without other successes.
    if (last?.kind === 'refused' && !this.hasServed(type)) return one.recordSuccess()
    if (last === null || isAway(last)) this.#overall.open(nowMs)
    one.open(nowMs)
  }

  /** Call it if no judgment is possible now. */
  abandonJudgment(type: string): void {
    this.#overall.abandonJudgment()
    this.#breaker(type).abandonJudgment()
  }

  /** True if the source has served this type before. */
  hasServed(type: string): boolean {
    return this.#lastGood.has(type)
  }

  /** Call it if the source rejected a request that another source served. It probably does not serve this type. */
  markUnserved(type: string, nowMs: number): void {
    this.#unservedUntilMs.set(type, nowMs + UNSERVED_MS)
  }

  isDoubtful(type: string, nowMs: number): boolean {
    return nowMs < (this.#unservedUntilMs.get(type) ?? 0)
  }

  view(nowMs: number): HealthView {
    const retryInMs = this.#overall.waitMs(nowMs)
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    return {
      state: retryInMs > 0 ? 'resting' : 'ok',
      retryInMs,
      failingTypes: [...this.#byType].filter(([, breaker]) => breaker.waitMs(nowMs) > 0).map(([type]) => type),
      lastSuccessMs: this.#lastSuccessMs,
      lastFailure: this.#lastFailure,
      medianMs: sorted[sorted.length >> 1] ?? null,
    }
  }

  /** True if each failure of this request counts, because the request is known to be good. */
  #isKnownGood(type: string, body: string, outcome: Outcome): boolean {
    return body === this.#lastGood.get(type) || (outcome.kind !== 'refused' && body === this.#exampleOf(type))
  }

  #recordAnswer(type: string, body: string, tookMs: number, nowMs: number): void {
    // Moves the type to the end of the map, so that the last entry is the latest success.
    this.#lastGood.delete(type)
    this.#lastGood.set(type, body)
    this.#unservedUntilMs.delete(type)
    this.#lastSuccessMs = nowMs
    this.#latencies[this.#samples++ % SAMPLES] = tookMs
  }

  #breaker(type: string): Breaker {
    let breaker = this.#byType.get(type)
    if (breaker === undefined) {
      breaker = new Breaker()
      this.#byType.set(type, breaker)
    }
    return breaker
  }
}

/** True if the source itself seems to be down. */
export function isAway(outcome: Outcome): boolean {
  return outcome.kind === 'timeout' || (outcome.kind === 'broken' && outcome.whole)
}

function reasonOf(outcome: Outcome): FailureReason | null {
  switch (outcome.kind) {
    case 'answer':
    case 'refused':
      return null
    case 'busy':
    case 'timeout':
      return outcome.kind
    case 'broken':
      return outcome.whole ? 'unreachable' : 'failed'
  }
}
