// Response cache of one chain in one isolate: immutable responses are stored, and responses about the newest block are
// shared by concurrent callers. Invariants: memory is bounded; a shared response is newer than the newest block and
// the last transaction seen by this isolate, and at most `shareMs` old; null and errors are not stored.

import { BoundedMap } from '../core/bounded-map.ts'
import type { After } from '../core/deadline.ts'
import type { Failure } from '../core/failure.ts'
import { all, type MaybePromise } from '../core/maybe-async.ts'
import { err, ok, type Result } from '../core/result.ts'
import { SingleFlights } from '../core/single-flight.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { type CacheLifetime, cacheLifetimeOf, heightOf, isWrite } from './cache-lifetime.ts'
import type { RpcCall } from './calls.ts'
import type { RpcChain } from './chains.ts'
import type { RpcAnswer } from './replies.ts'
import type { ReplyResult, RpcUpstream } from './rpc-upstream.ts'

export type CallResult = Result<RpcAnswer, Failure>

export interface ChainCacheDeps {
  readonly upstream: Pick<RpcUpstream, 'request' | 'view'>
  readonly now: () => number
  readonly after: After
  /** Maximum total length of all stored responses. */
  readonly memoryMax: number
}

interface CachedAnswer {
  readonly answer: RpcAnswer
  readonly untilMs: number
}

/** Time at which a call was sent, and the state at that time. */
interface FetchContext {
  readonly atMs: number
  readonly head: number
  readonly writes: number
}

/** A call sent on behalf of all callers that wait for it. */
interface PendingCall {
  readonly call: RpcCall
  readonly resolve: (replied: ReplyResult) => void
}

/** Maximum length of a stored reply, as a fraction of the total. */
const TEXT_PART = 1 / 8
const ENTRY_LENGTH = 256
/** Calls with longer parameters, and further concurrent calls, are sent individually. */
const KEY_MAX_LENGTH = 4_096
const FLIGHTS_MAX = 2_000
/** How long a response is stored. A chain that restarts at the same address is accepted after this time. */
const ENTRY_TTL_MS = 3_600_000
/**
 * A height that is not reached again for this long may have been wrong, because of a faulty node or a restarted chain.
 */
const HEAD_MS = 60_000
/** Maximum age of a shared call. It is longer than any request takes. */
const FLIGHT_MAX_MS = 65_000

export class ChainCache {
  readonly #chain: Pick<RpcChain, 'name' | 'finalityBlocks' | 'shareMs'>
  readonly #deps: ChainCacheDeps
  readonly #cache: BoundedMap<string, CachedAnswer>
  readonly #flights = new SingleFlights<CallResult>(FLIGHT_MAX_MS, FLIGHTS_MAX)
  /** Newest height seen by this isolate, and the time at which it was last seen; -1 if none was. */
  #head = -1
  #headSeenMs = 0
  /** Counter that grows when this isolate sends a transaction, and again when the response arrives. */
  #writes = 0

  constructor(chain: Pick<RpcChain, 'name' | 'finalityBlocks' | 'shareMs'>, deps: ChainCacheDeps) {
    this.#chain = chain
    this.#deps = deps
    this.#cache = new BoundedMap(
      deps.memoryMax,
      ({ answer }, key) => key.length + answer.head.length + answer.tail.length + ENTRY_LENGTH,
    )
  }

  /** Chain fields of `GET /status`. */
  view(nowMs: number) {
    return { height: this.#head < 0 ? null : this.#head, nodes: this.#deps.upstream.view(nowMs) }
  }

  /** A stored response. */
  cached(call: RpcCall): RpcAnswer | undefined {
    return this.#cached(this.#keyOf(call, cacheLifetimeOf(call)))
  }

  /**
   * Returns a reply or failure for each call, synchronously if all are stored. Never rejects. `waitUntil` keeps
   * requests alive, because other callers may wait for them.
   */
  resolve(calls: readonly RpcCall[], waitUntil: WaitUntil): MaybePromise<readonly CallResult[]> {
    const now = this.#deps.now()
    const pending: PendingCall[] = []
    const results = calls.map((call): MaybePromise<CallResult> => {
      const lasting = cacheLifetimeOf(call)
      const key = this.#keyOf(call, lasting)
      const known = this.#cached(key)
      if (known !== undefined) return ok(known)
      const { promise, resolve } = Promise.withResolvers<CallResult>()
      if (isWrite(call.method)) this.#writes++
      const since = { atMs: now, head: this.#head, writes: this.#writes }
      const begin = () => {
        const settle = (replied: ReplyResult) => {
          this.#store(call, lasting, since, replied)
          resolve(replied.ok ? ok(answerOf(replied.value)) : replied)
        }
        pending.push({ call, resolve: settle })
        return promise
      }
      if (key === null) return begin()
      // A null or non-final response may change with later blocks, so the key contains the newest height.
      const flight = `${this.#head} ${this.#writes} ${key}`
      if (!this.#isShared(flight, now)) this.#flights.forget(flight)
      const joined = this.#flights.join(flight, begin, now)
      return this.#flights.result(joined, err({ kind: 'upstream_timeout', source: this.#chain.name }), this.#deps.after)
    })
    if (pending.length > 0) waitUntil(this.#fetch(pending))
    return all(results)
  }

  async #fetch(pending: readonly PendingCall[]): Promise<void> {
    const replies = await this.#deps.upstream.request(pending.map(({ call }) => call)).catch(() => [])
    for (const [at, { resolve }] of pending.entries()) resolve(replies[at] ?? err({ kind: 'internal' }))
    // The transaction may become visible only now, so responses requested earlier are not shared any more.
    if (pending.some(({ call }) => isWrite(call.method))) this.#writes++
  }

  /**
   * True if a call in flight may still be shared. A slow response belongs to the block that was the newest when the
   * call was sent.
   */
  #isShared(flight: string, now: number): boolean {
    return now - (this.#flights.startedMs(flight) ?? now) < this.#chain.shareMs
  }

  #cached(key: string | null): RpcAnswer | undefined {
    const kept = key === null ? undefined : this.#cache.get(key)
    return kept !== undefined && this.#deps.now() < kept.untilMs ? kept.answer : undefined
  }

  /**
   * Null if the call cannot be shared. Parameters are compared as written, because two different numbers may parse to
   * the same double.
   */
  #keyOf({ method, params }: RpcCall, lasting: CacheLifetime): string | null {
    if (lasting === 'never' || params.length > KEY_MAX_LENGTH) return null
    const text = `${method} ${params === '' ? '[]' : params}`
    return lasting === 'newest' ? `${this.#head} ${this.#writes} ${text}` : text
  }

  /** Records and returns the height in a response; null if it has none. */
  #noteHeight({ method }: RpcCall, lasting: CacheLifetime, result: unknown): number | null {
    // A pending block has a height, too.
    const height = lasting === 'never' ? null : heightOf(method, result)
    if (height === null) return null
    const now = this.#deps.now()
    const mayFall = method === 'eth_blockNumber' && now - this.#headSeenMs >= HEAD_MS
    if (height < this.#head && !mayFall) return height
    this.#head = height
    this.#headSeenMs = now
    return height
  }

  #store(call: RpcCall, lasting: CacheLifetime, since: FetchContext, replied: ReplyResult): void {
    if (!replied.ok || replied.value.result === undefined || replied.value.result === null) return
    const height = this.#noteHeight(call, lasting, replied.value.result)
    const key = this.#keyOf(call, lasting)
    const { head, tail, isCharged } = replied.value
    if (key === null || head.length + tail.length > this.#deps.memoryMax * TEXT_PART) return
    if (lasting === 'final' && !this.#isFinal(height)) return
    if (lasting === 'newest' && !this.#isCurrent(height, since)) return
    const forMs = lasting === 'newest' ? this.#chain.shareMs : ENTRY_TTL_MS
    // Copies the strings: a substring would retain the whole reply.
    const answer = { head: copied(head), tail: copied(tail), isCharged }
    const untilMs = since.atMs + forMs
    if (this.#deps.now() < untilMs) this.#cache.set(key, { answer, untilMs })
  }

  /** True if nothing newer than this height is known. */
  #isCurrent(height: number | null, since: FetchContext): boolean {
    return since.writes === this.#writes && (height ?? since.head) === this.#head
  }

  #isFinal(height: number | null): boolean {
    const { finalityBlocks } = this.#chain
    return height !== null && finalityBlocks !== undefined && height <= this.#head - finalityBlocks
  }
}

/** Keeps only the strings, because the parsed values are far larger and callers may wait long. */
function answerOf({ head, tail, isCharged }: RpcAnswer): RpcAnswer {
  return { head, tail, isCharged }
}

function copied(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
