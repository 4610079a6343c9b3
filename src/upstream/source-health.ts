// What an isolate knows of one source: how it answered lately, and whether it may be asked. A source that fails at one
// type is left alone for that type; one that is away, or asked for a pause, is left alone altogether. Where requests may
// be what fails, requests that are known to be good decide.

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
  readonly #overall = new Breaker()
  readonly #byType = new Map<string, Breaker>()
  readonly #exampleOf: (type: string) => string | undefined
  /** The request of each type that it answered last. */
  readonly #lastGood = new Map<string, string>()
  readonly #unservedUntilMs = new Map<string, number>()
  readonly #latencies: number[] = []
  #samples = 0
  #lastSuccessMs: number | null = null
  #lastFailure: HealthView['lastFailure'] = null

  /** `exampleOf`: a request of a type that any source of it ought to answer. */
  constructor(exampleOf: (type: string) => string | undefined) {
    this.#exampleOf = exampleOf
  }

  /** Milliseconds until a request of this type may pass, 0 if it may now. */
  waitMs(type: string, nowMs: number): number {
    return Math.max(this.#overall.waitMs(nowMs), this.#breaker(type).waitMs(nowMs))
  }

  /** Milliseconds for which the source asked to be left alone. */
  restMs(nowMs: number): number {
    return this.#overall.restMs(nowMs)
  }

  /** Away when last asked: the next request decides, and ought to be one that somebody waits for. */
  get isHalfOpen(): boolean {
    return this.#overall.isHalfOpen
  }

  /** True where a request of this type may be sent now; while half open, true for one caller only. */
  tryPass(type: string, nowMs: number): boolean {
    return this.waitMs(type, nowMs) === 0 && this.#overall.tryPass(nowMs) && this.#breaker(type).tryPass(nowMs)
  }

  /** `isProbe`: it was sent to judge the source, and `judge` is told what came of it. */
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

  /** Whether the failures of this type, or of all, are to be judged by the caller: true for one only. */
  tryClaimJudgment(type: string, nowMs: number): boolean {
    const ofAll = this.#overall.tryClaimJudgment(nowMs)
    return this.#breaker(type).tryClaimJudgment(nowMs) || ofAll
  }

  /** What to judge by: an answer to any of these says that it is well, and that what failed were the requests. */
  probes(type: string): readonly string[] {
    return [...new Set([this.#lastGood.get(type), this.#exampleOf(type)])].filter((body) => body !== undefined)
  }

  /** Another type than this one that it has answered, and the request. */
  otherProbe(type: string): readonly [type: string, body: string] | undefined {
    return [...this.#lastGood].findLast(([other]) => other !== type)
  }

  /** No probe of this type was answered; `last` became of the last one, null where there was none. */
  judge(type: string, last: Outcome | null, nowMs: number): void {
    const one = this.#breaker(type)
    // An example need not exist on every chain: a refusal of it says nothing of a source that answered nothing else.
    if (last?.kind === 'refused' && !this.hasServed(type)) return one.recordSuccess()
    if (last === null || isAway(last)) this.#overall.open(nowMs)
    one.open(nowMs)
  }

  /** Nobody could judge now. */
  abandonJudgment(type: string): void {
    this.#overall.abandonJudgment()
    this.#breaker(type).abandonJudgment()
  }

  /** Whether it has answered this type before. */
  hasServed(type: string): boolean {
    return this.#lastGood.has(type)
  }

  /** It refused what another source answered: it seems not to serve this type. */
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

  /** Whether each failure of this request is news, because nothing is wrong with it. */
  #isKnownGood(type: string, body: string, outcome: Outcome): boolean {
    return body === this.#lastGood.get(type) || (outcome.kind !== 'refused' && body === this.#exampleOf(type))
  }

  #recordAnswer(type: string, body: string, tookMs: number, nowMs: number): void {
    // Last in the order of the map: what was answered last.
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

/** The source itself seems to be away. */
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
