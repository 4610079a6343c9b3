// Handles POST /info and `post` on sockets: parse, price, hold credits, find the response, settle or release, reply. It
// is the same for every type and independent of HTTP; one instance per isolate. Invariants: failures are free; an
// upstream is called only after the hold; each hold is settled or released exactly once; a call that needs no source is
// served and charged even if its key has used up its allowance of unbilled work.

import { type Identity, limiterKey } from '../../accounts/identity.ts'
import { infoScopeRefusal, TOKEN_CALLS } from '../../accounts/stream-token.ts'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { CoinNames } from '../../core/coin-names.ts'
import type { After } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { RateLimiter } from '../../core/rate-limiter.ts'
import type { Result } from '../../core/result.ts'
import { valueAt } from '../../core/schema-shape.ts'
import { UnbilledLimiter, unbilledLimitFailure } from '../../core/unbilled-limiter.ts'
import { checkUnbilled, type Hold, type MeteredCall, recordAnswer } from '../../metering/charging.ts'
import { infoFailure, type WireFailure } from '../../protocol/failure-wire.ts'
import type { Tier } from '../freshness.ts'
import type { Books, Sources } from '../ports.ts'
import { type InfoAnswer, NOT_KNOWN } from '../query.ts'
import { AnswerResolver, type CallContext, type ServedAnswer } from './answer-resolver.ts'
import { type AnswerStore, AnswerTiers } from './answer-tiers.ts'
import { CallMemo, type InfoCall, readCall } from './call.ts'

export interface InfoServiceDeps {
  readonly sources: Sources
  /** Shared response caches; missing ones are skipped. */
  readonly stores: Partial<Readonly<Record<Tier, AnswerStore>>>
  readonly now: () => number
  readonly after: After
  /** Reports an unexpected error. The client gets the code `internal`. */
  readonly report: (error: unknown, requestId: string) => void
}

export class InfoService {
  readonly #deps: InfoServiceDeps
  readonly #memo = new CallMemo()
  readonly #answers: AnswerResolver
  readonly #freeWork = new UnbilledLimiter()
  readonly #tokenCalls = new RateLimiter()
  readonly #coins: CoinNames

  constructor(deps: InfoServiceDeps) {
    this.#deps = deps
    this.#answers = new AnswerResolver({ ...deps, tiers: new AnswerTiers(deps) })
    const { sources, now: nowMs, after } = deps
    this.#coins = new CoinNames({ read: () => coinsOf(sources.books), nowMs, after })
  }

  /** An uncharged response for internal use; null if unavailable. Never rejects. */
  async read(text: string, asking: CallContext): Promise<InfoAnswer | null> {
    const call = readCall(text)
    const found = call.ok ? await this.#answers.find(withFreshRead(call.value), asking) : call
    return found.ok ? found.value.answer : null
  }

  /** Handles one request body. Never rejects. */
  async handle(request: MeteredCall, text: string): Promise<WireFailure> {
    try {
      let call = this.#memo.get(text)
      if (!call) {
        const read = readCall(text)
        if (!read.ok) return await this.reject(request, read.error, typeIn(text))
        call = read.value
        this.#memo.set(text, call)
      }
      const outside = this.#tokenRefusal(request.identity, call)
      if (outside) return await this.reject(request, outside, typeIn(text))
      const fresh = this.#answers.fresh(call, this.#deps.now())
      if (!fresh) return await this.#findAndServe(request, call)
      const serving = this.#serve(request, call, fresh)
      return serving instanceof Promise ? await serving : serving
    } catch (error) {
      this.#deps.report(error, request.requestId)
      return refusal(request, { kind: 'internal' }, typeIn(text))
    }
  }

  /** Failure if a stream token exceeds its scope or its rate. */
  #tokenRefusal({ token }: Identity, { request }: InfoCall): Failure | null {
    if (!token) return null
    const outside = infoScopeRefusal(token, request)
    if (outside) return outside
    const { waitMs } = this.#tokenCalls.take(token.holder, TOKEN_CALLS, this.#deps.now())
    return waitMs > 0 ? { kind: 'rate_limited', retryAfterMs: waitMs, limit: TOKEN_CALLS } : null
  }

  /** Free error reply to an authenticated request. */
  async reject(request: MeteredCall, failure: Failure, type = ''): Promise<WireFailure> {
    const remaining = await checkUnbilled(request, 'info', this.#freeWork, this.#deps.now())
    return remaining.ok ? refusal(request, failure, type, remaining.value) : refusal(request, remaining.error, type)
  }

  /** Serves a known response; synchronous if the lease covers the price. */
  #serve(request: MeteredCall, call: InfoCall, served: ServedAnswer): WireFailure | Promise<WireFailure> {
    const settle = (hold: Result<Hold, Failure>) =>
      hold.ok ? succeed(request, call, served, hold.value.settle()) : refusal(request, hold.error, call.price.type)
    const holding = request.charging.hold(request.identity, call.price)
    return holding instanceof Promise ? holding.then(settle) : settle(holding)
  }

  async #findAndServe(request: MeteredCall, call: InfoCall): Promise<WireFailure> {
    const waitMs = call.mayFail ? this.#freeWork.tryUpstream(limiterKey(request.identity), this.#deps.now()) : 0
    if (waitMs > 0) {
      const copy = await this.#answers.findCopy(call, request)
      return copy ? this.#serve(request, call, copy) : refusal(request, unbilledLimitFailure(waitMs), call.price.type)
    }
    const work = this.#holdAndFind(request, call)
    // A call that the client cancels after the fetch started is still charged.
    request.waitUntil(work)
    return work
  }

  /** Holds credits and finds the response concurrently, unless the call needs the hold first. */
  async #holdAndFind(request: MeteredCall, call: InfoCall): Promise<WireFailure> {
    const holding = request.charging.hold(request.identity, call.price)
    // If the hold is rejected without asking the meter, no response is looked up.
    if (!(holding instanceof Promise) && !holding.ok) return refusal(request, holding.error, call.price.type)
    const finding = call.holdsFirst || request.isVisit ? null : this.#answers.find(call, request)
    const hold = await holding
    if (!hold.ok) return refusal(request, hold.error, call.price.type)
    const found = await (finding ?? this.#answers.find(call, request))
    if (!found.ok) return this.#fail(request, call, found.error, hold.value)
    if (call.mayFail) this.#freeWork.refundTry(limiterKey(request.identity), this.#deps.now())
    return succeed(request, call, found.value, hold.value.settle())
  }

  async #fail(request: MeteredCall, call: InfoCall, failure: Failure, hold: Hold): Promise<WireFailure> {
    const { type } = call.price
    const count = failure.kind === 'bad_field' ? 'takeOrOwe' : 'take'
    const waitMs = this.#freeWork[count](limiterKey(request.identity), this.#deps.now())
    const remaining = hold.release()
    if (waitMs > 0) return refusal(request, unbilledLimitFailure(waitMs), type, remaining)
    return refusal(request, await withSuggestedCoin(failure, call.request, this.#coins), type, remaining)
  }
}

function refusal(
  { requestId, recordRefusal }: MeteredCall,
  failure: Failure,
  type: string,
  remaining: MicroCredits | null = null,
): WireFailure {
  const reply = infoFailure(failure, requestId)
  recordRefusal(failure, reply.status, type)
  if (remaining === null) return reply
  return { ...reply, headers: { ...reply.headers, 'x-credits-remaining': formatCredits(remaining) } }
}

/** For uncacheable types, requires a response fetched after the call, because the caller is reacting to a change. */
function withFreshRead(call: InfoCall): InfoCall {
  return call.terms.freshMs > 0 ? call : { ...call, terms: { ...call.terms, shares: 'next' } }
}

/** Type found near the start of a body, for the refusal log. */
const typeIn = (text: string) => /"type"\s*:\s*"([^"\\]{1,64})"/.exec(text.slice(0, 1_000))?.[1] ?? ''

function succeed(
  request: MeteredCall,
  { price, costText, ignoredFields }: InfoCall,
  { answer: { body, height, lagMs, since, omittedTrades, nextCursor }, ageMs }: ServedAnswer,
  remaining: MicroCredits | null,
): WireFailure {
  recordAnswer(request, price, remaining === null ? 0 : price.amount)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-request-id': request.requestId,
    'x-credits-cost': remaining === null ? '0' : costText,
  }
  if (remaining !== null) headers['x-credits-remaining'] = formatCredits(remaining)
  if (ageMs !== null || lagMs !== undefined) {
    headers.age = String(Math.max(0, Math.floor(((ageMs ?? 0) + (lagMs ?? 0)) / 1000)))
  }
  if (height !== undefined) headers['x-block-height'] = String(height)
  if (since !== undefined) {
    headers['x-history-from-height'] = String(since.height)
    headers['x-history-from-time'] = String(since.time)
  }
  if (omittedTrades !== undefined) headers['x-omitted-trades'] = String(omittedTrades)
  if (nextCursor !== undefined) headers['x-next-cursor'] = nextCursor
  if (ignoredFields !== null) headers['x-ignored-fields'] = ignoredFields
  return { status: 200, headers, body }
}

/** Adds a suggestion from our order books to a failure about an unknown coin. */
async function withSuggestedCoin(failure: Failure, request: object, names: CoinNames): Promise<Failure> {
  if (failure.kind !== 'bad_field') return failure
  const issue = failure.issues.find(({ path, message }) => message === NOT_KNOWN && /(^|\.)coin$/.test(path))
  if (issue === undefined) return failure
  const meant = await names.nearest(String(valueAt(request, issue.path.split('.'))))
  if (meant === undefined) return failure
  const message = `${NOT_KNOWN}; did you mean ${JSON.stringify(meant)}?`
  return { kind: 'bad_field', issues: failure.issues.map((each) => (each === issue ? { ...each, message } : each)) }
}

async function coinsOf(books: Books): Promise<readonly string[]> {
  const result = await books.tops()
  if (!result.ok) throw new Error('the order books are unavailable')
  return result.value.tops.map(({ coin }) => coin)
}
