// Answers POST /info and `post` on sockets: read → price → hold credits → find the answer → settle or release → reply.
// The same for every type. Knows no HTTP and no platform; one desk per isolate.
// Invariants: a failure costs nothing; an upstream is asked only after the hold; a hold is settled or released exactly once; a
// call that can be answered without a source is answered and charged, even where its key may cause no more unbilled work.

import type { After } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { FreeWork, tooMuchFreeWork } from '../../core/free-work.ts'
import { Gate } from '../../core/gate.ts'
import type { Result } from '../../core/result.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { formatCredits, type MicroCredits } from '../../credit/amount.ts'
import type { Charging, Hold } from '../../edge/charging.ts'
import { infoFailure } from '../../edge/failure-wire.ts'
import { counted, type Identity } from '../../key/identity.ts'
import type { NoteRefusal } from '../../key/refused-calls.ts'
import { questionOutside, TOKEN_CALLS } from '../../key/stream-token.ts'
import type { Tier } from '../freshness.ts'
import type { Sources } from '../ports.ts'
import type { Answer } from '../query.ts'
import { type AnswerStore, AnswerTiers } from './answer-tiers.ts'
import { Answers, type Asking, type Served } from './answers.ts'
import { type InfoCall, readCall } from './call.ts'
import { CallMemo } from './call-memo.ts'
import { MeantCoin } from './meant-coin.ts'

/** A reply as every surface can send it. */
export interface InfoReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface InfoDeskDeps {
  readonly sources: Sources
  /** Stores of answers that isolates share; one that is missing is left out. */
  readonly stores: Partial<Readonly<Record<Tier, AnswerStore>>>
  readonly now: () => number
  readonly after: After
  /** A bug was caught; the caller gets `internal`. */
  readonly report: (error: unknown, requestId: string) => void
  readonly refused?: NoteRefusal | undefined
}

export interface InfoRequest {
  readonly identity: Identity
  readonly text: string
  readonly requestId: string
  /** Of this request: charging may need its context for reports. */
  readonly charging: Charging
  /** Keeps work alive when the caller is gone: others may wait for it, and it may have to be paid. */
  readonly waitUntil: WaitUntil
}

/** Without its body where that could not be had. */
type Unread = Omit<InfoRequest, 'text'> & Partial<Pick<InfoRequest, 'text'>>

/** Prices a body that could not be read: nothing, but revoked keys and rate limits still show. */
const NO_PRICE = { product: 'info', type: 'refused', amount: 0 } as const

export class InfoDesk {
  readonly #deps: InfoDeskDeps
  readonly #memo = new CallMemo()
  readonly #answers: Answers
  readonly #freeWork = new FreeWork()
  readonly #tokenCalls = new Gate()
  readonly #meantCoin: MeantCoin

  constructor(deps: InfoDeskDeps) {
    this.#deps = deps
    this.#answers = new Answers({ ...deps, tiers: new AnswerTiers(deps) })
    this.#meantCoin = new MeantCoin(deps.sources.books, deps.now, deps.after)
  }

  /** An answer for Weir itself, uncharged; null where it cannot be had. Never rejects. */
  async read(text: string, asking: Asking): Promise<Answer | null> {
    const call = readCall(text)
    const found = call.ok ? await this.#answers.find(sinceAsked(call.value), asking) : call
    return found.ok ? found.value.answer : null
  }

  /** Never rejects. */
  async answer(request: InfoRequest): Promise<InfoReply> {
    try {
      let call = this.#memo.get(request.text)
      if (!call) {
        const read = readCall(request.text)
        if (!read.ok) return await this.refuse(request, read.error)
        call = read.value
        this.#memo.set(request.text, call)
      }
      const outside = this.#outsideToken(request.identity, call)
      if (outside) return await this.refuse(request, outside)
      const fresh = this.#answers.fresh(call, this.#deps.now())
      if (!fresh) return await this.#findAndServe(request, call)
      const serving = this.#serve(request, call, fresh)
      return serving instanceof Promise ? await serving : serving
    } catch (error) {
      this.#deps.report(error, request.requestId)
      return this.#refusal(request, { kind: 'internal' })
    }
  }

  /** The refusal of who came with a stream token, which is for some questions, and not for many. */
  #outsideToken({ token }: Identity, { request }: InfoCall): Failure | null {
    if (!token) return null
    const outside = questionOutside(token, request)
    if (outside) return outside
    const { waitMs } = this.#tokenCalls.take(token.holder, TOKEN_CALLS, this.#deps.now())
    return waitMs > 0 ? { kind: 'rate_limited', retryAfterMs: waitMs, limit: TOKEN_CALLS } : null
  }

  /** The reply to an authenticated request that could not even be read, uncharged. */
  async refuse(request: Unread, failure: Failure): Promise<InfoReply> {
    // Counted before it is known whether the key still holds: of many at once none must slip through meanwhile.
    const waitMs = this.#freeWork.take(counted(request.identity), this.#deps.now())
    if (waitMs > 0) return this.#refusal(request, tooMuchFreeWork(waitMs))
    const hold = await request.charging.hold(request.identity, NO_PRICE)
    return hold.ok
      ? this.#refusal(request, failure, undefined, hold.value.release())
      : this.#refusal(request, hold.error)
  }

  /** At once where nobody has to be asked for the credits. */
  #serve(request: InfoRequest, call: InfoCall, served: Served): InfoReply | Promise<InfoReply> {
    const settle = (hold: Result<Hold, Failure>) =>
      hold.ok ? succeed(request, call, served, hold.value.settle()) : this.#refusal(request, hold.error, call)
    const holding = request.charging.hold(request.identity, call.price)
    return holding instanceof Promise ? holding.then(settle) : settle(holding)
  }

  async #findAndServe(request: InfoRequest, call: InfoCall): Promise<InfoReply> {
    const waitMs = call.asksSource ? this.#freeWork.tryWork(counted(request.identity), this.#deps.now()) : 0
    if (waitMs > 0) {
      const copy = await this.#answers.copy(call, request)
      return copy ? this.#serve(request, call, copy) : this.#refusal(request, tooMuchFreeWork(waitMs), call)
    }
    const work = call.holdsFirst ? this.#holdThenFind(request, call) : this.#holdAndFind(request, call)
    // A call cancelled after its source was asked is charged all the same.
    request.waitUntil(work)
    return work
  }

  async #holdThenFind(request: InfoRequest, call: InfoCall): Promise<InfoReply> {
    const hold = await request.charging.hold(request.identity, call.price)
    if (!hold.ok) return this.#refusal(request, hold.error, call)
    return this.#finish(request, call, hold.value, await this.#answers.find(call, request))
  }

  async #holdAndFind(request: InfoRequest, call: InfoCall): Promise<InfoReply> {
    const holding = request.charging.hold(request.identity, call.price)
    // Who is refused without asking anybody causes no work either.
    if (!(holding instanceof Promise) && !holding.ok) return this.#refusal(request, holding.error, call)
    const finding = this.#answers.find(call, request)
    const hold = await holding
    if (!hold.ok) return this.#refusal(request, hold.error, call)
    return this.#finish(request, call, hold.value, await finding)
  }

  #finish(request: InfoRequest, call: InfoCall, hold: Hold, found: Result<Served, Failure>) {
    if (!found.ok) return this.#fail(request, call, found.error, hold)
    if (call.asksSource) this.#freeWork.charged(counted(request.identity), this.#deps.now())
    return succeed(request, call, found.value, hold.settle())
  }

  async #fail(request: Unread, call: InfoCall, failure: Failure, hold: Hold): Promise<InfoReply> {
    const count = failure.kind === 'bad_field' ? 'owe' : 'take'
    const waitMs = this.#freeWork[count](counted(request.identity), this.#deps.now())
    const remaining = hold.release()
    if (waitMs > 0) return this.#refusal(request, tooMuchFreeWork(waitMs), call, remaining)
    return this.#refusal(request, await this.#meantCoin.named(failure, call.request), call, remaining)
  }

  #refusal(request: Unread, failure: Failure, call?: InfoCall, remaining: MicroCredits | null = null): InfoReply {
    const { identity: caller, requestId, waitUntil, text = '' } = request
    const type = call?.price.type ?? typeSaid(text)
    this.#deps.refused?.({ caller, requestId, product: 'info', type, failure }, waitUntil)
    const reply = infoFailure(failure, request.requestId)
    if (remaining === null) return reply
    return { ...reply, headers: { ...reply.headers, 'x-credits-remaining': formatCredits(remaining) } }
  }
}

/** Of what is never kept, only what its source was asked for afterwards: who reads knows that something has happened. */
function sinceAsked(call: InfoCall): InfoCall {
  return call.terms.freshMs > 0 ? call : { ...call, terms: { ...call.terms, shares: 'next' } }
}

/** The type that a body begins with, or nearly so, for whoever looks for its refusal. */
const typeSaid = (text: string) => /"type"\s*:\s*"([^"\\]{1,64})"/.exec(text.slice(0, 1_000))?.[1] ?? ''

function succeed(
  { requestId }: InfoRequest,
  { costText, ignored }: InfoCall,
  { answer: { body, height, lagMs, since }, ageMs }: Served,
  remaining: MicroCredits | null,
): InfoReply {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-request-id': requestId,
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
  if (ignored !== null) headers['x-ignored-fields'] = ignored
  return { status: 200, headers, body }
}
