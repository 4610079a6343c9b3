// Requests data from the sources of a type in order, with at most two attempts each. Pure except for injected
// dependencies. Invariants: each attempt at a budgeted source is paid for before it is sent; a rejection caused by the
// caller is returned and not retried elsewhere; a source is paused only if known-good requests fail too; the total time
// is at most `REQUEST_MAX_MS`.

import { backoffMs } from '../core/backoff.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { Budget } from './leased-budget.ts'
import { type Outcome, outcomeOf, type SourceReply } from './outcome.ts'
import { isAway, type SourceHealth } from './source-health.ts'
import { LAG_BODY, LAG_TYPE, type SourceLag } from './source-lag.ts'
import { sourcesFor, type UpstreamSource } from './sources.ts'
import type { Upstream, UpstreamResponse } from './upstream-api.ts'
import { weightOf, weightToReserve } from './weight.ts'

export interface UpstreamDeps {
  readonly sources: readonly RoutedSource[]
  /** One POST, ended after `timeoutMs`; never throws. */
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Keeps work alive after the request that started it. */
  readonly background: (work: Promise<unknown>) => void
}

const ATTEMPTS_PER_SOURCE = 2
const RETRY = { firstMs: 100, capMs: 1_000, jitter: 1 }
/** Shorter than the flight bound of info responses (info/ports.ts). */
const REQUEST_MAX_MS = 11_000
/** An attempt with less time left is not started. */
const ATTEMPT_MIN_MS = 50
/** Maximum wait of a request for an exhausted budget. */
const BUDGET_WAIT_MS = 1_000

/**
 * `waitMs`: nothing was sent, and this is the time until the request can be sent. `unpaid`: the only reason is an
 * exhausted budget.
 */
type AttemptResult = { readonly outcome: Outcome } | { readonly waitMs: number; readonly unpaid: boolean }

interface Call {
  readonly type: string
  readonly body: string
  readonly caller?: string
  readonly startMs: number
}

export class RoutedUpstream implements Upstream {
  readonly #deps: UpstreamDeps
  readonly #byType = new Map<string, readonly RoutedSource[]>()

  get sources(): readonly RoutedSource[] {
    return this.#deps.sources
  }

  constructor(deps: UpstreamDeps) {
    this.#deps = deps
  }

  async request(type: string, body: string, caller?: string): Promise<Result<UpstreamResponse, Failure>> {
    const call = { type, body, startMs: this.#deps.now(), ...(caller === undefined ? {} : { caller }) }
    let candidates = this.route(type)
    for (const source of candidates) this.#checkLag(source)
    let failure: Failure | null = null
    let shortestMs = Number.POSITIVE_INFINITY
    const refusedBy: RoutedSource[] = []
    while (candidates.length > 0) {
      const unpaid: RoutedSource[] = []
      let budgetMs = Number.POSITIVE_INFINITY
      for (const source of candidates) {
        const turn = await this.#trySource(source, call)
        if ('waitMs' in turn) {
          shortestMs = Math.min(shortestMs, turn.waitMs)
          if (!turn.unpaid) continue
          unpaid.push(source)
          budgetMs = Math.min(budgetMs, turn.waitMs)
          continue
        }
        const { outcome } = turn
        if (outcome.kind === 'answer') {
          for (const each of refusedBy) each.health.markUnserved(type, this.#deps.now())
          return ok({ text: outcome.text, ...latenessOf(source, this.#deps.now()) })
        }
        failure = failureOf(outcome, source.config.name)
        if (outcome.kind !== 'refused') continue
        if (outcome.sure && isKnownToServe(source, type)) return err(failure)
        if (outcome.sure) refusedBy.push(source)
      }
      candidates = unpaid
      if (this.#deps.now() + budgetMs > call.startMs + BUDGET_WAIT_MS) break
      await this.#deps.sleep(budgetMs)
    }
    return err(failure ?? unavailable(type, shortestMs))
  }

  /** Sources of a type in the current order. */
  route(type: string): readonly RoutedSource[] {
    let sources = this.#byType.get(type)
    if (sources === undefined) {
      const serving = new Set(
        sourcesFor(
          this.#deps.sources.map(({ config }) => config),
          type,
        ),
      )
      sources = this.#deps.sources.filter(({ config }) => serving.has(config))
      this.#byType.set(type, sources)
    }
    return routeOf(sources, type, this.#deps.now())
  }

  async #trySource(source: RoutedSource, call: Call): Promise<AttemptResult> {
    let last: AttemptResult | null = null
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) await this.#deps.sleep(backoffMs(RETRY, attempt - 2, this.#deps.random()))
      const turn = await this.#attempt(source, call)
      if ('waitMs' in turn) return last ?? turn
      last = turn
      const { outcome } = turn
      if (outcome.kind !== 'broken' || !outcome.again || attempt === ATTEMPTS_PER_SOURCE) return turn
    }
  }

  /** `isProbe`: sent to judge the source, ignoring its breakers. */
  async #attempt(
    source: RoutedSource,
    { type, body, startMs, caller = '' }: Call,
    isProbe = false,
  ): Promise<AttemptResult> {
    const { health, budget, config } = source
    const waitMs = isProbe ? health.restMs(this.#deps.now()) : health.waitMs(type, this.#deps.now())
    if (waitMs > 0) return { waitMs, unpaid: false }
    const payment = budget === null ? null : await budget.take(weightToReserve(type), caller)
    if (payment?.paid === false) return { waitMs: payment.waitMs, unpaid: true }
    const sentAtMs = this.#deps.now()
    const timeoutMs = Math.min(config.timeoutMs, startMs + REQUEST_MAX_MS - sentAtMs)
    if (timeoutMs < ATTEMPT_MIN_MS || (!isProbe && !health.tryPass(type, sentAtMs))) {
      payment?.settle(0)
      return { waitMs: Math.max(1, health.waitMs(type, sentAtMs)), unpaid: false }
    }
    const sent = await source.send(body, timeoutMs)
    const now = this.#deps.now()
    const outcome = outcomeOf(sent, body, now)
    // If there is no complete reply, the weight counted by the source is unknown, so the reservation stays.
    if ('status' in sent) payment?.settle(weightOf(type, outcome.kind === 'answer' ? outcome.rows : 0))
    health.record(type, body, outcome, now - sentAtMs, now, isProbe)
    if (type === LAG_TYPE) source.lag.record(outcome, now)
    if (!isProbe && health.tryClaimJudgment(type, now)) this.#deps.background(this.#judge(source, type))
    return { outcome }
  }

  /** Finds out whether a source is unhealthy or cannot serve these requests. */
  async #judge(source: RoutedSource, type: string): Promise<void> {
    const { health } = source
    const probe = (of: string, body: string) =>
      this.#attempt(source, { type: of, body, startMs: this.#deps.now() }, true)
    let last: Outcome | null = null
    for (const body of health.probes(type)) {
      const turn = await probe(type, body)
      if ('waitMs' in turn || turn.outcome.kind === 'busy') return health.abandonJudgment(type)
      if (turn.outcome.kind === 'answer') return
      last = turn.outcome
    }
    const other = last !== null && isAway(last) ? health.otherProbe(type) : undefined
    if (other !== undefined) await probe(...other)
    health.judge(type, last, this.#deps.now())
  }

  /** Checks the source's clock in the background, if due. */
  #checkLag(source: RoutedSource): void {
    const startMs = this.#deps.now()
    const { health, lag } = source
    if (health.isHalfOpen || health.waitMs(LAG_TYPE, startMs) > 0 || !lag.tryCheck(startMs)) return
    this.#deps.background(this.#attempt(source, { type: LAG_TYPE, body: LAG_BODY, startMs }))
  }
}

/**
 * True if the operator lists types for this source, or if the source has served this type before. A rejection then
 * concerns the request.
 */
function isKnownToServe({ config, health }: RoutedSource, type: string): boolean {
  return config.types !== undefined || health.hasServed(type)
}

/** `waitMs` is infinite if no source exists. */
function unavailable(type: string, waitMs: number): Failure {
  const what = `No source for the type ${type} is available now`
  if (Number.isFinite(waitMs)) return { kind: 'unavailable', what, retryAfterMs: waitMs }
  return {
    kind: 'unavailable',
    what,
    hint: `No source on this gateway serves the type ${type}. Its operator must add one.`,
  }
}

function failureOf(outcome: Exclude<Outcome, { kind: 'answer' }>, source: string): Failure {
  switch (outcome.kind) {
    case 'refused':
      return {
        kind: 'bad_field',
        issues: [{ path: '', message: 'the exchange does not accept these values' }],
      }
    case 'busy':
      return { kind: 'unavailable', what: 'The source of this type is busy', retryAfterMs: outcome.restMs }
    case 'timeout':
      return { kind: 'upstream_timeout', source }
    case 'broken':
      return { kind: 'upstream_failed', source }
  }
}

/** A source and its state in this isolate. */
export interface RoutedSource {
  readonly send: (body: string, timeoutMs: number) => Promise<SourceReply>
  readonly config: UpstreamSource
  readonly health: SourceHealth
  readonly lag: SourceLag
  /** Null if the source has no budget. */
  readonly budget: Budget | null
}

/**
 * Sources in the configured order, except that lagging and doubtful sources come last. A lagging source is behind the
 * freshest one by more than `maxLagMs`. A doubtful source seems not to serve the type. If all sources lag alike (the
 * exchange has stalled, or our clock is wrong), their order stays. An unknown lag counts as no lag.
 */
function routeOf(sources: readonly RoutedSource[], type: string, nowMs: number): readonly RoutedSource[] {
  if (sources.length < 2) return sources
  const least = Math.min(...sources.map(({ lag }) => lag.lagMs(nowMs) ?? 0))
  const isLast = ({ config, health, lag }: RoutedSource) =>
    (lag.lagMs(nowMs) ?? 0) - least > config.maxLagMs || health.isDoubtful(type, nowMs)
  const last = sources.filter(isLast)
  return last.length === 0 ? sources : [...sources.filter((source) => !isLast(source)), ...last]
}

/** Lag to report with a response. Lag within the source's limit is not reported. */
function latenessOf({ config, lag }: RoutedSource, nowMs: number): Pick<UpstreamResponse, 'lagMs'> {
  const lagMs = lag.lagMs(nowMs)
  return lagMs !== null && lagMs > config.maxLagMs ? { lagMs } : {}
}
