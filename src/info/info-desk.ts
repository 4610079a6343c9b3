// Answers POST /info and `post` on sockets: read → price → hold credits → serve from cache or resolve → settle or
// release → reply. The same for every type. Knows no HTTP and no platform; one desk per isolate.
// Laws: a failure costs nothing; an upstream is asked only after the hold; a hold is settled or released exactly once.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { formatCredits } from '../credit/amount.ts'
import type { MicroCredits } from '../credit/meter-api.ts'
import type { Charging, Hold } from '../edge/charging.ts'
import { infoFailure } from '../edge/failure-wire.ts'
import type { Identity } from '../key/identity.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type InfoCall, readCall } from './call.ts'
import { CallMemo } from './call-memo.ts'
import { FLIGHT_MAX_MS, Flights } from './flights.ts'
import { FreeWork } from './free-work.ts'
import type { Answer } from './query.ts'
import type { Sources } from './sources.ts'

/** A reply as every surface can send it. */
export interface InfoReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface InfoDeskDeps {
  readonly sources: Sources
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** A bug was caught; the caller gets `internal`. */
  readonly report: (error: unknown, requestId: string) => void
}

export interface InfoRequest {
  readonly identity: Identity
  readonly text: string
  readonly requestId: string
  /** Of this request: charging may need its context for reports. */
  readonly charging: Charging
  /** Keeps work alive when the caller is gone: others may wait for it, and it may have to be paid. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

type Unread = Omit<InfoRequest, 'text'>
type Resolved = Result<CachedAnswer, Failure>

/** Prices a body that could not be read: nothing, but revoked keys and rate limits still show. */
const NO_PRICE = { product: 'info', type: 'refused', amount: 0 } as const

export class InfoDesk {
  readonly #deps: InfoDeskDeps
  readonly #memo = new CallMemo()
  readonly #cache = new AnswerCache()
  readonly #flights = new Flights<Resolved>()
  readonly #freeWork = new FreeWork()

  constructor(deps: InfoDeskDeps) {
    this.#deps = deps
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
      const now = this.#deps.now()
      const entry = this.#cache.get(call.key)
      if (entry && now - entry.at < call.terms.freshMs) return await this.#serve(request, call, entry, now)
      return await this.#answerUncached(request, call, now)
    } catch (error) {
      this.#deps.report(error, request.requestId)
      return infoFailure({ kind: 'internal' }, request.requestId)
    }
  }

  /** The reply to an authenticated request that could not even be read, uncharged. */
  async refuse(request: Unread, failure: Failure): Promise<InfoReply> {
    const refusal = this.#tooMuchFreeWork(request)
    if (refusal) return refusal
    const hold = await request.charging.hold(request.identity, NO_PRICE)
    return hold.ok ? this.#fail(request, failure, hold.value) : this.#refusal(request, hold.error)
  }

  async #serve(request: InfoRequest, call: InfoCall, entry: CachedAnswer, now: number): Promise<InfoReply> {
    const hold = await request.charging.hold(request.identity, call.price)
    if (!hold.ok) return this.#refusal(request, hold.error)
    return succeed(request, call, entry, hold.value.settle(), now - entry.at)
  }

  async #answerUncached(request: InfoRequest, call: InfoCall, now: number): Promise<InfoReply> {
    const refusal = this.#tooMuchFreeWork(request)
    if (refusal) return refusal
    const work = call.holdsFirst ? this.#holdThenResolve(request, call, now) : this.#holdAndResolve(request, call)
    // A call cancelled after its source was asked is charged all the same.
    request.waitUntil(work)
    return work
  }

  async #holdThenResolve(request: InfoRequest, call: InfoCall, now: number): Promise<InfoReply> {
    const hold = await request.charging.hold(request.identity, call.price)
    if (!hold.ok) return this.#refusal(request, hold.error)
    const entry = this.#cache.get(call.key)
    if (entry && now - entry.at < call.terms.revalidateMs) {
      this.#fly(request, call)
      return succeed(request, call, entry, hold.value.settle(), now - entry.at)
    }
    return this.#finish(request, call, hold.value, await this.#fly(request, call))
  }

  async #holdAndResolve(request: InfoRequest, call: InfoCall): Promise<InfoReply> {
    const resolving = this.#fly(request, call)
    const hold = await request.charging.hold(request.identity, call.price)
    if (!hold.ok) return this.#refusal(request, hold.error)
    return this.#finish(request, call, hold.value, await resolving)
  }

  #finish(request: InfoRequest, call: InfoCall, hold: Hold, resolved: Resolved): InfoReply {
    if (resolved.ok) return succeed(request, call, resolved.value, hold.settle(), null)
    const now = this.#deps.now()
    const entry = this.#cache.get(call.key)
    if (entry && now - entry.at < call.terms.ifErrorMs && isSourceFailure(resolved.error)) {
      return succeed(request, call, entry, hold.settle(), now - entry.at)
    }
    return this.#fail(request, resolved.error, hold)
  }

  #fly(request: InfoRequest, call: InfoCall): Promise<Resolved> {
    const start = () => {
      const result = this.#resolve(request, call)
      request.waitUntil(result)
      return result
    }
    if (!call.terms.shared) return start()
    const flight = this.#flights.join(call.key, this.#deps.now(), start)
    return flight.leads ? flight.result : Promise.race([flight.result, this.#lost()])
  }

  /** What a follower gets whose leader vanished with its isolate's request. */
  async #lost(): Promise<Resolved> {
    await this.#deps.sleep(FLIGHT_MAX_MS)
    return err({ kind: 'upstream_timeout', source: 'gateway' })
  }

  async #resolve(request: InfoRequest, call: InfoCall): Promise<Resolved> {
    const at = this.#deps.now()
    try {
      const answer: Result<Answer, Failure> = await call.query.resolve(call.request, this.#deps.sources)
      if (!answer.ok) return answer
      const entry = { ...answer.value, at }
      if (call.terms.freshMs > 0) this.#cache.set(call.key, entry)
      return ok(entry)
    } catch (error) {
      this.#deps.report(error, request.requestId)
      return err({ kind: 'internal' })
    }
  }

  #tooMuchFreeWork(request: Unread): InfoReply | null {
    const waitMs = this.#freeWork.waitMs(request.identity.keyHash, this.#deps.now())
    return waitMs === 0 ? null : this.#refusal(request, { kind: 'rate_limited', retryAfterMs: waitMs })
  }

  #fail(request: Unread, failure: Failure, hold: Hold): InfoReply {
    this.#freeWork.add(request.identity.keyHash, this.#deps.now())
    return this.#refusal(request, failure, hold.release())
  }

  #refusal(request: Unread, failure: Failure, remaining?: MicroCredits): InfoReply {
    const left = failure.kind === 'credits_exhausted' ? failure.remainingMicro : remaining
    const reply = infoFailure(failure, request.requestId)
    const credits = {
      'x-credits-cost': '0',
      ...(left === undefined ? {} : { 'x-credits-remaining': formatCredits(left) }),
    }
    return { ...reply, headers: { ...reply.headers, ...credits } }
  }
}

function succeed(
  { requestId }: InfoRequest,
  call: InfoCall,
  answer: Answer,
  remaining: MicroCredits,
  ageMs: number | null,
): InfoReply {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-request-id': requestId,
    'x-credits-cost': call.costText,
    'x-credits-remaining': formatCredits(remaining),
  }
  if (ageMs !== null) headers.age = String(Math.max(0, Math.floor(ageMs / 1000)))
  if (answer.height !== undefined) headers['x-block-height'] = String(answer.height)
  return { status: 200, headers, body: answer.body }
}

/** True where an older answer is better than this failure: the source is at fault, not the request. */
function isSourceFailure({ kind }: Failure): boolean {
  return kind === 'upstream_failed' || kind === 'upstream_timeout' || kind === 'unavailable'
}
