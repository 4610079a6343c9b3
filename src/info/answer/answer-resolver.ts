// Finds a response in this isolate's memory, in the shared caches, or at the source of its type. freshness.ts defines
// the allowed ages; this file defines the order. Invariants: one fetch per key at a time; no response older than its
// limit.

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

/** A response and its age when the call arrived. The age is null if the response was fetched for this call. */
export interface ServedAnswer {
  readonly answer: InfoAnswer
  readonly ageMs: number | null
}

/** Context of a call: `waitUntil` keeps work alive after the caller disconnects; the ids appear in bug reports. */
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
  /** Reports an unexpected error. The client gets the code `internal`. */
  readonly report: (error: unknown, requestId: string) => void
}

type AnswerResult = Result<ServedAnswer, Failure>

/** Result for calls that joined a fetch, if the request that started the fetch has disappeared. */
const LOST: AnswerResult = err({ kind: 'upstream_timeout', source: 'gateway' })
/** Delay before a failed fetch is repeated while an older response can be served. */
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

  /** Returns a fresh response from memory. Most calls need nothing else. */
  fresh({ key, terms }: InfoCall, now: number): ServedAnswer | undefined {
    const cached = this.#memory.get(key, now)
    return cached && now - cached.at < terms.freshMs ? servedAnswer(cached, now) : undefined
  }

  /** A copy that can be served without a fetch. Never rejects. */
  async findCopy(call: InfoCall, asking: CallContext): Promise<ServedAnswer | undefined> {
    if (call.terms.tiers.length > 0 && !this.#cached(call)) await this.#lookUp(call, asking)
    const cached = this.#cached(call)
    return cached?.use === 'spare' ? undefined : cached?.served
  }

  /** The response from memory, caches or source. Never rejects. */
  async find(call: InfoCall, asking: CallContext): Promise<AnswerResult> {
    const before = this.#cached(call)
    const shouldLookUp = call.terms.tiers.length > 0 && !before?.isTried && (!before || before.use === 'spare')
    if (shouldLookUp) await this.#lookUp(call, asking)
    const cached = shouldLookUp ? this.#cached(call) : before
    if (cached?.isTried || cached?.use === 'fresh') return ok(cached.served)
    if (cached?.use === 'stale') {
      // Does not join another request's fetch: this request gets its response at once and may end before that fetch.
      if (this.#flights.current(call.key, this.#deps.now()) === null) this.#fetch(call, asking, shouldLookUp)
      return ok(cached.served)
    }
    const fetched = await this.#fetch(call, asking, shouldLookUp)
    const last = fetched.ok || !isSourceFailure(fetched.error) ? undefined : this.#cached(call)
    return last ? ok(last.served) : fetched
  }

  /** Usable entry in memory. */
  #cached({ key, terms }: InfoCall) {
    const now = this.#deps.now()
    const entry = this.#memory.get(key, now)
    const use = entry ? useOf(now - entry.at, terms) : 'none'
    if (!entry || use === 'none') return undefined
    return { served: servedAnswer(entry, now), use, isTried: now - (entry.failedAt ?? -RETRY_MS) < RETRY_MS }
  }

  /** Copies a newer entry from the shared caches into memory. */
  async #lookUp({ key, terms }: InfoCall, { waitUntil }: CallContext): Promise<void> {
    const look = this.#lookups.join(key, () => this.#deps.tiers.find(key, terms, waitUntil), this.#deps.now())
    if (look.isLeader) waitUntil(look.result)
    const copy = await this.#lookups.result(look, undefined, this.#deps.after)
    if (!copy) return
    const cached = this.#memory.get(key, this.#deps.now())
    if (!cached || cached.at < copy.at) this.#memory.set(key, copy)
    else if (copy.stored) this.#memory.set(key, { ...cached, stored: copy.stored })
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
    const result = await this.#flights.result(joined, LOST, this.#deps.after)
    if (joined.isLeader || !result.ok || sinceMs === now) return result
    // The fetch may have started before this call arrived.
    return ok({ ...result.value, ageMs: (result.value.ageMs ?? 0) + now - sinceMs })
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
        const cached = this.#cached(call)
        if (cached?.use === 'fresh') return ok(cached.served)
      }
      const at = this.#deps.now()
      const answer = await call.query.resolve(call.request, this.#sourcesFor(asking))
      if (!answer.ok) return this.#failed(call, answer)
      if (answer.value.isDoubtful) return ok(this.#lastGood(call) ?? this.#keep(call, { ...answer.value, at }))
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
    const cached = this.#memory.get(key, this.#deps.now())
    if (cached && isSourceFailure(answer.error)) this.#memory.set(key, { ...cached, failedAt: this.#deps.now() })
    return answer
  }

  /** An earlier response in place of a doubtful one. The next fetch is delayed as after a failure. */
  #lastGood({ key, terms }: InfoCall): ServedAnswer | undefined {
    const now = this.#deps.now()
    const cached = this.#memory.get(key, now)
    if (!cached || cached.isDoubtful || useOf(now - cached.at, terms) === 'none') return undefined
    this.#memory.set(key, { ...cached, failedAt: now })
    return servedAnswer(cached, now)
  }

  /** Keeps a doubtful response in this isolate only, so that others keep what is better. */
  #keep({ key }: InfoCall, answer: CachedAnswer): ServedAnswer {
    this.#memory.set(key, answer)
    return { answer, ageMs: null }
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

/** True if the fault is in the source and not in the request. An older response is then better than an error. */
function isSourceFailure({ kind }: Failure): boolean {
  return kind === 'upstream_failed' || kind === 'upstream_timeout' || kind === 'unavailable'
}

// Single-flight for responses that must not be older than the request: callers share only a fetch that starts after all
// of them arrived. Callers that arrive during a fetch wait for its end and share the next fetch. Two fetches therefore
// serve any number of concurrent callers. Fetches must not reject.

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
    // Check the next fetch first, because the present fetch may end before the leader of the next fetch notices.
    const next = this.#next.current(key, now)
    if (next !== null) return { result: next, isLeader: false }
    const present = this.#present.current(key, now)
    if (present === null) return { result: this.#begin(key, start), isLeader: true }
    const startNext = () => orFallback(present, FLIGHT_MAX_MS, null, this.#after).then(() => this.#begin(key, start))
    // The next fetch counts as started when the present fetch started. If the present fetch is too old to join, the
    // next fetch is too old as well.
    return { result: this.#next.start(key, startNext, this.#present.startedMs(key) ?? now), isLeader: true }
  }

  #begin(key: string, start: () => Promise<T>): Promise<T> {
    this.#next.forget(key)
    return this.#present.start(key, start, this.#now())
  }
}
