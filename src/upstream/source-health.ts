// What an isolate knows of one source: how it answered lately, and whether it may be asked. A source that fails at one
// type is left alone for that type; one that is away, or asked for a pause, is left alone altogether.

import { Breaker } from './breaker.ts'
import type { Outcome } from './outcome.ts'

export interface HealthView {
  readonly state: 'ok' | 'resting'
  /** Until it is asked again, 0 where it is asked now. */
  readonly retryInMs: number
  /** Types that it fails at, for which alone it is left alone. */
  readonly failingTypes: readonly string[]
  readonly lastSuccessMs: number | null
  readonly lastFailure: { readonly atMs: number; readonly type: string; readonly reason: FailureReason } | null
  /** Of the last answers. */
  readonly medianMs: number | null
}

type FailureReason = 'timeout' | 'unreachable' | 'busy' | 'failed'

/** Latencies that the median is taken of. */
const SAMPLES = 32
/** How long a source that refused a type which another one serves is asked for it last. */
const UNSERVED_MS = 600_000

export class SourceHealth {
  readonly #whole = new Breaker()
  readonly #byType = new Map<string, Breaker>()
  readonly #served = new Set<string>()
  readonly #unservedUntilMs = new Map<string, number>()
  readonly #latencies: number[] = []
  #samples = 0
  #lastSuccessMs: number | null = null
  #lastFailure: HealthView['lastFailure'] = null

  /** Milliseconds until a request of this type may pass, 0 if it may now. */
  waitMs(type: string, nowMs: number): number {
    return Math.max(this.#whole.waitMs(nowMs), this.#breaker(type).waitMs(nowMs))
  }

  /** Away when last asked: the next request decides, and ought to be one that somebody waits for. */
  get isOnTrial(): boolean {
    return this.#whole.isOnTrial
  }

  /** True where a request of this type may be sent now; while half open, true for one caller only. */
  tryPass(type: string, nowMs: number): boolean {
    return this.waitMs(type, nowMs) === 0 && this.#whole.tryPass(nowMs) && this.#breaker(type).tryPass(nowMs)
  }

  record(type: string, outcome: Outcome, tookMs: number, nowMs: number): void {
    if (outcome.kind === 'answer') this.#answered(type, tookMs, nowMs)
    const reason = reasonOf(outcome)
    if (reason !== null) this.#lastFailure = { atMs: nowMs, type, reason }
    const one = this.#breaker(type)
    if (outcome.kind === 'busy') {
      this.#whole.rest(nowMs + outcome.restMs)
      one.undecided()
      return
    }
    const away = outcome.kind === 'timeout' || (outcome.kind === 'broken' && outcome.whole)
    if (away) this.#whole.failed(nowMs)
    else this.#whole.succeeded()
    if (outcome.kind === 'broken' && !outcome.whole) one.failed(nowMs)
    else if (away) one.undecided()
    else one.succeeded()
  }

  /** Whether it has answered this type before. */
  hasServed(type: string): boolean {
    return this.#served.has(type)
  }

  /** It refused what another source answered: it seems not to serve this type. */
  doesNotServe(type: string, nowMs: number): void {
    this.#unservedUntilMs.set(type, nowMs + UNSERVED_MS)
  }

  isDoubtful(type: string, nowMs: number): boolean {
    return nowMs < (this.#unservedUntilMs.get(type) ?? 0)
  }

  view(nowMs: number): HealthView {
    const retryInMs = this.#whole.waitMs(nowMs)
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

  #answered(type: string, tookMs: number, nowMs: number): void {
    this.#served.add(type)
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
