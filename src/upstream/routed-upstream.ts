// Asks the sources of a type in their order: at most two attempts each, then the next. Pure but for what is injected.
// A source that fails at one type is left alone for that type; one that is away is left alone altogether.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { Breaker } from './breaker.ts'
import { isWorthRepeating, type Outcome, outcomeOf, retryDelayMs, type Sent } from './outcome.ts'
import { sourcesFor, type UpstreamSource } from './sources.ts'
import type { Upstream } from './upstream-api.ts'

export interface UpstreamDeps {
  readonly sources: readonly UpstreamSource[]
  /** One POST; never throws. */
  readonly send: (url: string, body: string) => Promise<Sent>
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
}

const ATTEMPTS_PER_SOURCE = 2

export class RoutedUpstream implements Upstream {
  readonly #deps: UpstreamDeps
  readonly #bySource = new Map<string, Breaker>()
  readonly #bySourceAndType = new Map<string, Breaker>()

  constructor(deps: UpstreamDeps) {
    this.#deps = deps
  }

  async ask(type: string, body: string): Promise<Result<string, Failure>> {
    const sources = sourcesFor(this.#deps.sources, type)
    let failure: Failure = { kind: 'unavailable', what: `No source for the type ${type} is available now` }
    let shortestWaitMs = Number.POSITIVE_INFINITY
    let asked = false
    for (const source of sources) {
      const waitMs = this.#waitMs(source, type)
      if (waitMs > 0 || !this.#tryPass(source, type)) {
        shortestWaitMs = Math.min(shortestWaitMs, Math.max(waitMs, 1))
        continue
      }
      asked = true
      const outcome = await this.#askSource(source, type, body)
      if (outcome.kind === 'answer') return ok(outcome.text)
      failure = failureOf(outcome, source.name)
    }
    if (!asked && Number.isFinite(shortestWaitMs)) failure = { ...failure, retryAfterMs: shortestWaitMs } as Failure
    return err(failure)
  }

  async #askSource(source: UpstreamSource, type: string, body: string): Promise<Outcome> {
    for (let attempt = 0; ; attempt++) {
      const outcome = outcomeOf(await this.#deps.send(source.url, body), this.#deps.now())
      this.#record(source, type, outcome)
      const last = attempt + 1 >= ATTEMPTS_PER_SOURCE
      if (last || !isWorthRepeating(outcome)) return outcome
      await this.#deps.sleep(retryDelayMs(attempt, this.#deps.random()))
      if (!this.#tryPass(source, type)) return outcome
    }
  }

  #record(source: UpstreamSource, type: string, outcome: Outcome): void {
    const now = this.#deps.now()
    const whole = this.#breaker(this.#bySource, source.name)
    const one = this.#breaker(this.#bySourceAndType, `${source.name}/${type}`)
    if (outcome.kind === 'busy') {
      whole.rest(now + outcome.restMs)
      one.undecided()
      return
    }
    const away = outcome.kind === 'timeout' || (outcome.kind === 'broken' && outcome.whole)
    if (away) whole.failed(now)
    else whole.succeeded()
    if (outcome.kind === 'broken' && !outcome.whole) one.failed(now)
    else if (away) one.undecided()
    else one.succeeded()
  }

  #waitMs(source: UpstreamSource, type: string): number {
    const now = this.#deps.now()
    return Math.max(
      this.#breaker(this.#bySource, source.name).waitMs(now),
      this.#breaker(this.#bySourceAndType, `${source.name}/${type}`).waitMs(now),
    )
  }

  #tryPass(source: UpstreamSource, type: string): boolean {
    const now = this.#deps.now()
    if (this.#waitMs(source, type) > 0) return false
    return (
      this.#breaker(this.#bySource, source.name).tryPass(now) &&
      this.#breaker(this.#bySourceAndType, `${source.name}/${type}`).tryPass(now)
    )
  }

  #breaker(breakers: Map<string, Breaker>, name: string): Breaker {
    let breaker = breakers.get(name)
    if (!breaker) {
      breaker = new Breaker()
      breakers.set(name, breaker)
    }
    return breaker
  }
}

function failureOf(outcome: Exclude<Outcome, { kind: 'answer' }>, source: string): Failure {
  switch (outcome.kind) {
    case 'refused':
      return {
        kind: 'bad_field',
        issues: [{ path: '', message: 'the exchange does not accept these values, such as an unknown dex or coin' }],
      }
    case 'busy':
      return { kind: 'unavailable', what: 'The source of this type is rate limited', retryAfterMs: outcome.restMs }
    case 'timeout':
      return { kind: 'upstream_timeout', source }
    case 'broken':
      return { kind: 'upstream_failed', source }
  }
}
