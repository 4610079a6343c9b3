// Where an answer comes from: this isolate's memory, copies that other isolates left, or the source of its type. What may
// be used at which age is freshness.ts; this keeps the order. Law: one flight per key, and nothing older than its bound.

import type { Identity } from '../../accounts/identity.ts'
import { type After, orFallback } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { type JoinedFlight, SingleFlights } from '../../core/single-flight.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { useOf } from '../freshness.ts'
import { FLIGHT_MAX_MS, type Sources } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'
import { AnswerCache, type AnswerTiers, type CachedAnswer } from './answer-tiers.ts'
import type { InfoCall } from './call.ts'

/** An answer to be served, and how old it was when the call came; null: the source was asked for this call. */
export interface ServedAnswer {
  readonly answer: InfoAnswer
  readonly ageMs: number | null
}

/** On whose behalf: keeps work alive when the caller is gone, and names it to the operator where a bug shows. */
export interface CallContext {
  readonly identity: Pick<Identity, 'account'>
  readonly requestId: string
  readonly waitUntil: WaitUntil
}

export interface AnswerResolverDeps {
  readonly sources: Sources
  readonly tiers: AnswerTiers
  readonly now: () => number
  readonly after: After
  /** A bug was caught; the caller gets `internal`. */
  readonly report: (error: unknown, requestId: string) => void
}

type AnswerResult = Result<ServedAnswer, Failure>

/** What a follower gets whose leader vanished with its isolate's request. */
const LOST: AnswerResult = err({ kind: 'upstream_timeout', source: 'gateway' })
/** A source that failed is asked for the same again no sooner, as long as there is an older answer to serve. */
const RETRY_MS = 1_000

export class AnswerResolver {
  readonly #deps: AnswerResolverDeps
  readonly #memory = new AnswerCache()
  readonly #lookups = new SingleFlights<CachedAnswer | undefined>(FLIGHT_MAX_MS)
  readonly #flights = new SingleFlights<AnswerResult>(FLIGHT_MAX_MS)
  readonly #nextFlights: NextFlights<AnswerResult>

  constructor(deps: AnswerResolverDeps) {
    this.#deps = deps
    this.#nextFlights = new NextFlights(deps.now, deps.after)
  }

  /** A fresh answer from memory: the whole work of most calls. */
  fresh({ key, terms }: InfoCall, now: number): ServedAnswer | undefined {
    const kept = this.#memory.get(key, now)
    return kept && now - kept.at < terms.freshMs ? servedAnswer(kept, now) : undefined
  }

  /** A copy that may be served without asking a source. Never rejects. */
  async findCopy(call: InfoCall, asking: CallContext): Promise<ServedAnswer | undefined> {
    if (call.terms.tiers.length > 0 && !this.#cached(call)) await this.#lookUp(call, asking)
    const kept = this.#cached(call)
    return kept?.use === 'spare' ? undefined : kept?.served
  }

  /** The answer, wherever it is to be had. Never rejects. */
  async find(call: InfoCall, asking: CallContext): Promise<AnswerResult> {
    const before = this.#cached(call)
    const looks = call.terms.tiers.length > 0 && !before?.isTried && (!before || before.use === 'spare')
    if (looks) await this.#lookUp(call, asking)
    const kept = looks ? this.#cached(call) : before
    if (kept?.isTried || kept?.use === 'fresh') return ok(kept.served)
    if (kept?.use === 'stale') {
      // Whoever is served at once must not wait in a flight of others: its request is over when that lands.
      if (this.#flights.current(call.key, this.#deps.now()) === null) this.#fetch(call, asking, looks)
      return ok(kept.served)
    }
    const landed = await this.#fetch(call, asking, looks)
    const last = landed.ok || !isSourceFailure(landed.error) ? undefined : this.#cached(call)
    return last ? ok(last.served) : landed
  }

  /** What memory holds of this, if it is good for anything. */
  #cached({ key, terms }: InfoCall) {
    const now = this.#deps.now()
    const entry = this.#memory.get(key, now)
    const use = entry ? useOf(now - entry.at, terms) : 'none'
    if (!entry || use === 'none') return undefined
    return { served: servedAnswer(entry, now), use, isTried: now - (entry.failedAt ?? -RETRY_MS) < RETRY_MS }
  }

  /** Takes into memory what other isolates left, where that is newer. */
  async #lookUp({ key, terms }: InfoCall, { waitUntil }: CallContext): Promise<void> {
    const look = this.#lookups.join(key, () => this.#deps.tiers.find(key, terms, waitUntil), this.#deps.now())
    if (look.isLeader) waitUntil(look.result)
    const copy = await this.#lookups.result(look, undefined, this.#deps.after)
    if (!copy) return
    const kept = this.#memory.get(key, this.#deps.now())
    if (!kept || kept.at < copy.at) this.#memory.set(key, copy)
    else if (copy.stored) this.#memory.set(key, { ...kept, stored: copy.stored })
  }

  async #fetch(call: InfoCall, asking: CallContext, looked: boolean): Promise<AnswerResult> {
    const start = () => {
      const result = this.#load(call, asking, looked)
      asking.waitUntil(result)
      return result
    }
    const now = this.#deps.now()
    const sinceMs = this.#flights.startedMs(call.key) ?? now
    const joined = this.#join(call, start)
    const landed = await this.#flights.result(joined, LOST, this.#deps.after)
    if (joined.isLeader || !landed.ok || sinceMs === now) return landed
    // Its source may have been asked before this call came.
    return ok({ ...landed.value, ageMs: (landed.value.ageMs ?? 0) + now - sinceMs })
  }

  #join({ key, terms }: InfoCall, start: () => Promise<AnswerResult>): JoinedFlight<AnswerResult> {
    return terms.shares === 'next'
      ? this.#nextFlights.join(key, start)
      : this.#flights.join(key, start, this.#deps.now())
  }

  async #load(call: InfoCall, asking: CallContext, looked: boolean): Promise<AnswerResult> {
    try {
      if (!looked && call.terms.tiers.length > 0) {
        await this.#lookUp(call, asking)
        const kept = this.#cached(call)
        if (kept?.use === 'fresh') return ok(kept.served)
      }
      const at = this.#deps.now()
      const answer = await call.query.resolve(call.request, this.#sourcesFor(asking))
      if (!answer.ok) return this.#failed(call, answer)
      this.#store(call, { ...answer.value, at }, asking)
      return ok({ answer: answer.value, ageMs: null })
    } catch (error) {
      this.#deps.report(error, asking.requestId)
      return err({ kind: 'internal' })
    }
  }

  #sourcesFor({ identity: { account } }: CallContext): Sources {
    const { upstream } = this.#deps.sources
    return { ...this.#deps.sources, upstream: { request: (type, body) => upstream.request(type, body, account) } }
  }

  #failed<F extends { readonly error: Failure }>({ key }: InfoCall, answer: F): F {
    const kept = this.#memory.get(key, this.#deps.now())
    if (kept && isSourceFailure(answer.error)) this.#memory.set(key, { ...kept, failedAt: this.#deps.now() })
    return answer
  }

  #store({ key, terms }: InfoCall, answer: CachedAnswer, { waitUntil }: CallContext): void {
    if (terms.freshMs === 0) return
    const stored = this.#deps.tiers.store(
      key,
      answer,
      this.#memory.get(key, this.#deps.now())?.stored,
      terms,
      waitUntil,
    )
    this.#memory.set(key, stored ? { ...answer, stored } : answer)
  }
}

function servedAnswer(answer: CachedAnswer, now: number): ServedAnswer {
  return { answer, ageMs: now - answer.at }
}

/** True where an older answer is better than this failure: the source is at fault, not the request. */
function isSourceFailure({ kind }: Failure): boolean {
  return kind === 'upstream_failed' || kind === 'upstream_timeout' || kind === 'unavailable'
}

// Flights for answers that must not be older than the question: callers share only a flight that begins after all of
// them have come. Who comes while one is under way waits for it to land and shares the next; so however many come at
// once, two flights answer them. Results must not reject.

export class NextFlights<T> {
  readonly #present = new SingleFlights<T>(FLIGHT_MAX_MS)
  readonly #next = new SingleFlights<T>(FLIGHT_MAX_MS)
  readonly #now: () => number
  readonly #after: After

  constructor(now: () => number, after: After) {
    this.#now = now
    this.#after = after
  }

  join(key: string, start: () => Promise<T>): JoinedFlight<T> {
    const now = this.#now()
    // Asked first: one that has landed may be gone some time before the request that leads the next one hears of it.
    const next = this.#next.current(key, now)
    if (next !== null) return { result: next, isLeader: false }
    const present = this.#present.current(key, now)
    if (present === null) return { result: this.#begin(key, start), isLeader: true }
    const begin = () => orFallback(present, FLIGHT_MAX_MS, null, this.#after).then(() => this.#begin(key, start))
    // As old as the one it waits for: where that is no longer joined, neither is this.
    return { result: this.#next.start(key, begin, this.#present.startedMs(key) ?? now), isLeader: true }
  }

  #begin(key: string, start: () => Promise<T>): Promise<T> {
    this.#next.forget(key)
    return this.#present.start(key, start, this.#now())
  }
}
