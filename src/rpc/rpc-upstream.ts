// Calls a chain's nodes in order, in up to two rounds. Pure except for injected dependencies. Invariants: writes are
// sent once; calls that a node omits from a batch go to the next node; a node is paused only if a known-good request
// fails too; each call gets exactly one reply or failure, within the time of two attempts.

import { backoffMs } from '../core/backoff.ts'
import type { Failure } from '../core/failure.ts'
import { hash32 } from '../core/hash.ts'
import { err, ok, type Result } from '../core/result.ts'
import { Breaker } from '../upstream/breaker.ts'
import { DEFAULT_REST_MS, restMsOf, type SourceReply } from '../upstream/outcome.ts'
import { isWrite } from './cache-lifetime.ts'
import type { RpcCall } from './calls.ts'
import type { RpcChain } from './chains.ts'
import { type RpcReply, readReplies } from './replies.ts'

type CallText = Pick<RpcCall, 'method' | 'params'>
export type ReplyResult = Result<RpcReply, Failure>

export interface RpcUpstreamDeps {
  /** One POST, limited in time and response bytes; never throws. */
  readonly send: (url: string, body: string, timeoutMs: number, maxBytes: number) => Promise<SourceReply>
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Keeps work alive after the request that started it. */
  readonly background: (work: Promise<unknown>) => void
}

type ChainNodes = Pick<RpcChain, 'name' | 'urls' | 'timeoutMs' | 'batchMax'>

const ROUNDS = 2
const RETRY = { firstMs: 50, capMs: 500, jitter: 1 }
/** An attempt with less time left is not started. */
const ATTEMPT_MIN_MS = 50
/** Maximum number of concurrent node requests per caller. The platform allows six connections in total. */
const PARTS_AT_ONCE = 4
/** Maximum total size of all responses to one caller. They stay in memory until the last one arrives. */
const RESPONSES_MAX_BYTES = 8 * 1024 * 1024
const PROBE: readonly CallText[] = [{ method: 'eth_chainId', params: '' }]
const PERHAPS_SENT =
  'The node did not confirm this transaction, but may have received it. Look it up by its hash before you send it again.'
const TOO_LARGE = 'The response is larger than 8 MiB. Request less, or use smaller batches.'
/** Statuses with which a node rejects our key. The messages of such responses are for the operator. */
const ACCESS_DENIED = [401, 403, 407]

/** Remaining budget of one caller's request. */
interface RemainingBudget {
  bytes: number
  readonly endMs: number
}
/** Node fields of `GET /status`. The address is never shown, because it may contain a key. */
export interface NodeView {
  readonly state: 'ok' | 'resting'
  readonly retryInMs: number
  readonly lastSuccessMs: number | null
  readonly lastFailure: { readonly atMs: number; readonly reason: 'timeout' | 'unreachable' | 'busy' | 'failed' } | null
}
interface Node {
  readonly url: string
  readonly breaker: Breaker
  lastSuccessMs: NodeView['lastSuccessMs']
  lastFailure: NodeView['lastFailure']
}
type Replies = ReadonlyMap<number, RpcReply>

export class RpcUpstream {
  readonly #chain: ChainNodes
  readonly #deps: RpcUpstreamDeps
  readonly #nodes: readonly Node[]

  constructor(chain: ChainNodes, deps: RpcUpstreamDeps) {
    this.#chain = chain
    this.#deps = deps
    this.#nodes = chain.urls.map((url) => ({ url, breaker: new Breaker(), lastSuccessMs: null, lastFailure: null }))
  }

  /** Nodes in order. */
  view(nowMs: number): readonly NodeView[] {
    return this.#nodes.map(({ breaker, lastSuccessMs, lastFailure }) => {
      const retryInMs = breaker.waitMs(nowMs)
      return { state: retryInMs > 0 ? 'resting' : 'ok', retryInMs, lastSuccessMs, lastFailure }
    })
  }

  /** A reply or failure for each call, in order. */
  async request(calls: readonly CallText[]): Promise<readonly ReplyResult[]> {
    const replied = new Array<ReplyResult>(calls.length)
    const all = calls.map((call, at) => ({ call, at }))
    const reads = all.filter(({ call }) => !isWrite(call.method))
    // Writes are sent individually, so that a retry of other calls cannot repeat them.
    const parts = all.filter(({ call }) => isWrite(call.method)).map((write) => [write])
    for (let from = 0; from < reads.length; from += this.#chain.batchMax)
      parts.push(reads.slice(from, from + this.#chain.batchMax))
    const width = Math.min(parts.length, PARTS_AT_ONCE)
    const left = { bytes: RESPONSES_MAX_BYTES, endMs: this.#deps.now() + 2 * this.#chain.timeoutMs }
    const askParts = async () => {
      for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
        const partCalls = part.map(({ call }) => call)
        const found = new Map<number, RpcReply>()
        const failure = await this.#askNodes(partCalls, found, left, width)
        for (const [i, { at }] of part.entries()) {
          const reply = found.get(i + 1)
          replied[at] = reply === undefined ? err(failure ?? { kind: 'internal' }) : ok(reply)
        }
      }
    }
    await Promise.all(Array.from({ length: width }, askParts))
    return replied
  }

  /**
   * Adds replies to `found` by call number. Returns the failure for calls without a reply, or null if every call has
   * one.
   */
  async #askNodes(
    calls: readonly CallText[],
    found: Map<number, RpcReply>,
    left: RemainingBudget,
    width: number,
  ): Promise<Failure | null> {
    const { name: source, timeoutMs } = this.#chain
    const isRepeatable = !calls.some(({ method }) => isWrite(method))
    let missing = calls.map((call, at) => ({ call, number: at + 1 }))
    let body = requestText(calls)
    let failure: Failure | null = null
    let shortestMs = Number.POSITIVE_INFINITY
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await this.#deps.sleep(backoffMs(RETRY, 0, this.#deps.random()))
      let isTried = false
      for (const node of this.#nodes) {
        const now = this.#deps.now()
        const leftMs = Math.min(timeoutMs, left.endMs - now)
        if (leftMs < ATTEMPT_MIN_MS) return failure ?? { kind: 'upstream_timeout', source }
        if (!node.breaker.tryPass(now)) {
          shortestMs = Math.min(shortestMs, Math.max(1, node.breaker.waitMs(now)))
          continue
        }
        const sent = await this.#deps.send(node.url, body, leftMs, Math.floor(left.bytes / width))
        const judged = this.#readReply(node, sent, missing.length, body)
        if (typeof judged === 'object') {
          left.bytes -= 'text' in sent ? sent.text.length : 0
          for (const [at, { number }] of missing.entries()) {
            const reply = judged.get(at + 1)
            if (reply !== undefined) found.set(number, reply)
          }
          missing = missing.filter(({ number }) => !found.has(number))
          if (missing.length === 0) return null
          body = requestText(missing.map(({ call }) => call))
        }
        if (judged === 'busy') {
          const retryAfterMs = Math.max(1, node.breaker.restMs(this.#deps.now()))
          failure ??= { kind: 'unavailable', what: `The chain ${source} is busy`, retryAfterMs }
          continue
        }
        const lost = { kind: judged === 'late' ? 'upstream_timeout' : 'upstream_failed', source } as const
        if (!isRepeatable) return { ...lost, hint: PERHAPS_SENT }
        if (judged === 'too large') return { ...lost, hint: TOO_LARGE }
        failure = lost
        isTried ||= judged !== 'late'
      }
      if (!isTried) break
    }
    return failure ?? { kind: 'unavailable', what: `The chain ${source} is unavailable`, retryAfterMs: shortestMs }
  }

  /** Returns the node's replies, or why there are no replies, and records its health. */
  #readReply(node: Node, sent: SourceReply, count: number, body: string) {
    const { url, breaker } = node
    const now = this.#deps.now()
    if ('status' in sent) {
      const restMs = restMsOf(sent.retryAfter, now)
      if (sent.status === 429 || (sent.status === 503 && restMs !== null)) {
        breaker.rest(now + (restMs ?? DEFAULT_REST_MS))
        node.lastFailure = { atMs: now, reason: 'busy' }
        return 'busy'
      }
      const replies = repliesIn(sent, count)
      if (replies !== null) {
        breaker.recordSuccess()
        node.lastSuccessMs = now
        return replies
      }
    } else if (sent.failed === 'oversized') {
      breaker.abandonJudgment()
      return 'too large'
    }
    const lost = 'failed' in sent ? sent.failed : 'failed'
    const reason = lost === 'timeout' || lost === 'unreachable' ? lost : 'failed'
    node.lastFailure = { atMs: now, reason }
    breaker.recordFailure(now, hash32(body).toString(), reason === 'unreachable')
    if (breaker.tryClaimJudgment(now)) this.#deps.background(this.#probe(url, breaker))
    return reason === 'timeout' ? 'late' : 'failed'
  }

  /** Finds out whether the node is unhealthy or cannot serve these calls. */
  async #probe(url: string, breaker: Breaker): Promise<void> {
    const sent = await this.#deps.send(url, requestText(PROBE), this.#chain.timeoutMs, RESPONSES_MAX_BYTES)
    if ('status' in sent && repliesIn(sent, 1) !== null) breaker.recordSuccess()
    else breaker.open(this.#deps.now())
  }
}

/**
 * Reads the replies in a response of any status, because some nodes send errors with a status other than 200. At status
 * 500 or above, an error without an id is not the reply to a call.
 */
function repliesIn({ status, text }: Extract<SourceReply, { readonly status: number }>, count: number): Replies | null {
  return ACCESS_DENIED.includes(status) ? null : readReplies(text, count, status < 500)
}

/** Renumbers calls from 1, because a caller's ids may repeat or have an unsupported type. */
function requestText(calls: readonly CallText[]): string {
  const texts = calls.map(({ method, params }, at) => {
    const rest = params === '' ? '' : `,"params":${params}`
    return `{"jsonrpc":"2.0","id":${at + 1},"method":${JSON.stringify(method)}${rest}}`
  })
  const text = texts.join(',')
  return texts.length === 1 ? text : `[${text}]`
}
