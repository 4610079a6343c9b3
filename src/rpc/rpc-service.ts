// Serves POST /v1/<chain>: parse → price → hold credits → resolve → settle or release → reply, per call. Independent of
// HTTP and platform. Invariants: exactly the calls that a node answered are charged, including notifications; each hold
// is settled or released once; a node is called only after the hold; responses are in call order; a call served from
// memory succeeds and is charged, whatever other errors its key caused.

import { formatCredits, type MicroCredits } from '../core/amount.ts'
import type { Failure } from '../core/failure.ts'
import { all, andThen, type MaybePromise } from '../core/maybe-async.ts'
import { err, type Result } from '../core/result.ts'
import { UnbilledLimiter, unbilledLimitFailure } from '../core/unbilled-limiter.ts'
import { checkUnbilled, type Hold, type MeteredCall, type Price, recordAnswer } from '../metering/charging.ts'
import {
  NO_COST,
  type Reply,
  type RpcError,
  rpcErrorText,
  rpcFailure,
  type WireFailure,
} from '../protocol/failure-wire.ts'
import { methodNotFound, type RpcBody, type RpcCall, readBody } from './calls.ts'
import type { CallResult, ChainCache } from './chain-cache.ts'
import type { CallPrices } from './chains.ts'
import { textOf } from './replies.ts'

export interface ServedChain {
  readonly prices: CallPrices
  readonly cache: ChainCache
}

export interface RpcServiceDeps {
  readonly chains: ReadonlyMap<string, ServedChain>
  readonly now: () => number
  readonly report: (error: unknown, requestId: string) => void
}

/** A call with its price, or its error. */
interface PricedCall {
  readonly id: string | null
  readonly call: RpcCall | null
  readonly refusal: RpcError | null
  readonly price: Price
}

type HoldResult = Result<Hold, Failure>

/** Outcome of a call. `paid` is its charge. */
interface CallOutcome {
  readonly text: string
  readonly status: number
  readonly failure?: Failure
  readonly paid: MicroCredits
  readonly left: MicroCredits | null
}

/** Price of calls that reach no node. Revoked keys and rate limits still apply. */
const NO_PRICE: Price = { product: 'rpc', type: 'refused', amount: 0 }
const NO_HOLD: HoldResult = err({ kind: 'internal' })

export class RpcService {
  readonly #deps: RpcServiceDeps
  readonly #unbilledLimiter = new UnbilledLimiter()

  constructor(deps: RpcServiceDeps) {
    this.#deps = deps
  }

  /** Chain fields of `GET /status`, as known to this isolate. */
  view() {
    const now = this.#deps.now()
    return [...this.#deps.chains].map(([name, { cache }]) => ({ name, ...cache.view(now) }))
  }

  /** Failure for an unknown chain, or null. */
  refusal(chain: string): Failure | null {
    if (this.#deps.chains.has(chain)) return null
    const names = [...this.#deps.chains.keys()].map((name) => JSON.stringify(name)).join(', ') || 'none'
    const hint = `The chain ${JSON.stringify(chain.slice(0, 64))} does not exist on this gateway. Available: ${names}.`
    return { kind: 'not_found', what: 'This chain', hint }
  }

  /** Never rejects. Unknown chains must be rejected beforehand. */
  async handle(request: MeteredCall, chainName: string, text: string): Promise<Reply> {
    try {
      const body = readBody(text)
      if (!body.ok)
        return await this.#replyUnbilled(request, replyOf(body.error, request.requestId), asFailure(body.error))
      const chain = this.#deps.chains.get(chainName)
      if (!chain) throw new Error(`unknown chain ${chainName}`)
      const items = body.value.calls.map((call) => priceCall(call, chain.prices))
      const work = this.#handleCalls(request, chain, body.value.isBatch, items)
      // Calls canceled after a node was called are charged anyway.
      if (work instanceof Promise) request.waitUntil(work)
      return await work
    } catch (error) {
      this.#deps.report(error, request.requestId)
      return refusal(request, { kind: 'internal' })
    }
  }

  /** Replies to an authenticated request whose body cannot be read. The reply is free. */
  async reject(request: MeteredCall, failure: Failure): Promise<Reply> {
    return this.#replyUnbilled(request, rpcFailure(failure, request.requestId), failure)
  }

  /** Returns the unbilled reply, or a failure that takes precedence. */
  async #replyUnbilled(request: MeteredCall, reply: Reply, failure: Failure): Promise<Reply> {
    const left = await checkUnbilled(request, 'rpc', this.#unbilledLimiter, this.#deps.now())
    if (!left.ok) return refusal(request, left.error)
    request.recordRefusal(failure, reply.status)
    return { ...reply, headers: { ...reply.headers, ...leftHeader(left.value) } }
  }

  /** Synchronous if neither the meter nor a node is needed: awaiting takes longer than a response from memory. */
  #handleCalls(
    request: MeteredCall,
    chain: ServedChain,
    isBatch: boolean,
    items: readonly PricedCall[],
  ): MaybePromise<Reply> {
    const holding = items.map((item): MaybePromise<HoldResult> => {
      const waitMs = this.#unbilledWaitMs(request, chain, item.call)
      return waitMs > 0 ? err(unbilledLimitFailure(waitMs)) : request.charging.hold(request.identity, item.price)
    })
    return andThen(all(holding), (holds) => {
      const pendingCalls = items.flatMap(({ call }, at) => (call !== null && holds[at]?.ok ? [call] : []))
      const results = pendingCalls.length === 0 ? [] : chain.cache.resolve(pendingCalls, request.waitUntil)
      return andThen(results, (found) =>
        assembleReply(request.requestId, isBatch, items, this.#finish(request, items, holds, found)),
      )
    })
  }

  /** Milliseconds to wait before a call that will not be billed or may fail upstream; 0 if it may proceed now. */
  #unbilledWaitMs({ identity: { keyHash } }: MeteredCall, chain: ServedChain, call: RpcCall | null): number {
    const now = this.#deps.now()
    if (this.#unbilledLimiter.waitMs(keyHash, now) === 0) return 0
    if (call === null) return this.#unbilledLimiter.waitMs(keyHash, now)
    return chain.cache.cached(call) === undefined ? this.#unbilledLimiter.tryUpstream(keyHash, now) : 0
  }

  /** `holds` are in item order. `found` has one result per call with a hold. */
  #finish(
    request: MeteredCall,
    items: readonly PricedCall[],
    holds: readonly HoldResult[],
    found: readonly CallResult[],
  ): readonly CallOutcome[] {
    // A failed node is not the caller's fault. It counts as one unbilled response, however many calls it failed.
    const failed = found.some(({ ok }) => !ok)
      ? this.#unbilledLimiter.take(request.identity.keyHash, this.#deps.now())
      : 0
    const answers = found.values()
    return items.map((item, at): CallOutcome => {
      const hold = holds[at] ?? NO_HOLD
      if (!hold.ok) return this.#refused(request, item, hold.error, null)
      return this.#settle(request, item, hold.value, item.call === null ? null : (answers.next().value ?? null), failed)
    })
  }

  #settle(request: MeteredCall, item: PricedCall, hold: Hold, found: CallResult | null, failedMs: number): CallOutcome {
    const id = item.id ?? 'null'
    if (found?.ok && found.value.isCharged) {
      const left = hold.settle()
      this.#unbilledLimiter.refundTry(request.identity.keyHash, this.#deps.now())
      const paid = left === null ? 0 : item.price.amount
      recordAnswer(request, item.price, paid)
      return { text: textOf(found.value, id), status: 200, paid, left }
    }
    const left = hold.release()
    if (found !== null && !found.ok) {
      return this.#refused(request, item, failedMs > 0 ? unbilledLimitFailure(failedMs) : found.error, left)
    }
    // An error from a node counts even above the limit, because the node has already done the work.
    const waitMs = this.#unbilledLimiter[found === null ? 'take' : 'takeOrOwe'](
      request.identity.keyHash,
      this.#deps.now(),
    )
    if (waitMs > 0) return this.#refused(request, item, unbilledLimitFailure(waitMs), left)
    if (found !== null) {
      recordAnswer(request, item.price, 0, { code: 'rpc_error' })
      return { text: textOf(found.value, id), status: 200, paid: 0, left }
    }
    const error = item.refusal ?? methodNotFound('')
    request.recordRefusal(asFailure(error), error.status)
    return { text: rpcErrorText(error, id), status: error.status, paid: 0, left }
  }

  #refused(
    request: MeteredCall,
    { id, call, price }: PricedCall,
    failure: Failure,
    left: MicroCredits | null,
  ): CallOutcome {
    const { status, body } = refusal(request, failure, call === null ? '' : price.type, id)
    const known = 'remainingMicro' in failure ? (failure.remainingMicro ?? left) : left
    return { text: body, status, failure, paid: 0, left: known }
  }
}

function priceCall(read: RpcBody['calls'][number], prices: CallPrices): PricedCall {
  if (!read.ok) return { id: read.error.id, call: null, refusal: read.error.error, price: NO_PRICE }
  const call = read.value
  const { id, method } = call
  const price = prices.of(method)
  return price === null
    ? { id, call: null, refusal: methodNotFound(method), price: NO_PRICE }
    : { id, call, refusal: null, price }
}

/** Converts a JSON-RPC error into a failure for the refusal log. */
function asFailure({ message }: RpcError): Failure {
  return { kind: 'bad_field', issues: [], hint: message }
}

/** Returns the reply for a failure. The failure is also logged for the account's owner. */
function refusal(
  { requestId, recordRefusal }: MeteredCall,
  failure: Failure,
  type = '',
  id?: string | null,
): WireFailure {
  const reply = rpcFailure(failure, requestId, id ?? 'null')
  recordRefusal(failure, reply.status, type)
  return reply
}

function replyOf(error: RpcError, requestId: string): Reply {
  return { status: error.status, headers: headersOf(requestId, 0), body: rpcErrorText(error, 'null') }
}

/** Status of a batch: the common status of its calls, or 200 if they differ. */
function assembleReply(
  requestId: string,
  isBatch: boolean,
  items: readonly PricedCall[],
  done: readonly CallOutcome[],
): Reply {
  const [first = 200, ...others] = new Set(done.map((each) => each.status))
  const status = others.length === 0 ? first : 200
  const cost = done.reduce((sum, { paid }) => sum + paid, 0)
  const left = done.findLast((each) => each.left !== null)?.left ?? null
  const headers = { ...refusalHeaders(done, status, requestId), ...headersOf(requestId, cost), ...leftHeader(left) }
  const texts = items.flatMap(({ id }, at) => (id === null ? [] : (done[at]?.text ?? [])))
  if (texts.length > 0) return { status, headers, body: isBatch ? batchOf(texts) : texts.join('') }
  // A notification has no body, but the status reports a missing key or credits.
  return { status: status === 200 ? 204 : status, headers, body: null }
}

/** Adds Retry-After for rate-limited calls even if other calls succeeded. */
function refusalHeaders(done: readonly CallOutcome[], status: number, requestId: string): Record<string, string> {
  const failure = status === 200 ? done.find(isTooMany)?.failure : done[0]?.failure
  if (failure === undefined) return {}
  const { headers } = rpcFailure(failure, requestId)
  return status === 200 ? { 'retry-after': headers['retry-after'] ?? '' } : headers
}

const isTooMany = ({ failure }: CallOutcome) => failure?.kind === 'rate_limited'

/** A node's reply may end with a line break. */
function batchOf(texts: readonly string[]): string {
  return `[${texts.map((text) => text.trim()).join(',')}]`
}

function headersOf(requestId: string, cost: MicroCredits): Record<string, string> {
  const ofCost = cost === 0 ? NO_COST : { 'x-credits-cost': formatCredits(cost) }
  return { 'content-type': 'application/json', 'x-request-id': requestId, ...ofCost }
}

function leftHeader(left: MicroCredits | null): Record<string, string> {
  return left === null ? {} : { 'x-credits-remaining': formatCredits(left) }
}
