// Answers of one chain and isolate: what never changes is kept, what is about the newest block is asked once for all who
// come meanwhile. Laws: bounded; what is shared about the newest block is of no block before one that this isolate has told
// of, nor of before a transaction that it has sent, nor was it asked for longer ago than the chain's `shareMs`; null and
// errors are not kept.

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
  /** Characters of all that is kept. */
  readonly memoryMax: number
}

interface CachedAnswer {
  readonly answer: RpcAnswer
  readonly untilMs: number
}

/** What was known when a call was asked, and when that was. */
interface FetchContext {
  readonly atMs: number
  readonly head: number
  readonly writes: number
}

/** A call that is asked for all who wait for it. */
interface PendingCall {
  readonly call: RpcCall
  readonly resolve: (replied: ReplyResult) => void
}

/** The longest text that is kept is this part of all. */
const TEXT_PART = 1 / 8
const ENTRY_LENGTH = 256
/** Calls with more parameters than that, and more calls at a time, are asked by themselves. */
const KEY_MAX_LENGTH = 4_096
const FLIGHTS_MAX = 2_000
/** A chain that is begun anew behind the same address is believed again after this time. */
const ENTRY_TTL_MS = 3_600_000
/** A height that no answer reached for so long may never have been: a node's fault, or a chain begun anew. */
const HEAD_MS = 60_000
/** Longer than an ask can take. */
const FLIGHT_MAX_MS = 65_000

export class ChainCache {
  readonly #chain: Pick<RpcChain, 'name' | 'finalityBlocks' | 'shareMs'>
  readonly #deps: ChainCacheDeps
  readonly #cache: BoundedMap<string, CachedAnswer>
  readonly #flights = new SingleFlights<CallResult>(FLIGHT_MAX_MS, FLIGHTS_MAX)
  /** The newest height that was told here, and when it was last; -1: none yet. */
  #head = -1
  #headSeenMs = 0
  /** Transactions sent from here. */
  #writes = 0

  constructor(chain: Pick<RpcChain, 'name' | 'finalityBlocks' | 'shareMs'>, deps: ChainCacheDeps) {
    this.#chain = chain
    this.#deps = deps
    this.#cache = new BoundedMap(
      deps.memoryMax,
      ({ answer }, key) => key.length + answer.head.length + answer.tail.length + ENTRY_LENGTH,
    )
  }

  /** What `GET /status` tells of the chain. */
  view(nowMs: number) {
    return { height: this.#head < 0 ? null : this.#head, nodes: this.#deps.upstream.view(nowMs) }
  }

  /** An answer out of memory. */
  cached(call: RpcCall): RpcAnswer | undefined {
    return this.#cached(this.#keyOf(call, cacheLifetimeOf(call)))
  }

  /** A reply or failure for each call, at once where all are in memory; rejects never. `waitUntil`: others may wait for what is asked. */
  resolve(calls: readonly RpcCall[], waitUntil: WaitUntil): MaybePromise<readonly CallResult[]> {
    const now = this.#deps.now()
    const led: PendingCall[] = []
    const finding = calls.map((call): MaybePromise<CallResult> => {
      const lasting = cacheLifetimeOf(call)
      const key = this.#keyOf(call, lasting)
      const known = this.#cached(key)
      if (known !== undefined) return ok(known)
      const { promise, resolve } = Promise.withResolvers<CallResult>()
      if (isWrite(call.method)) this.#writes++
      const since = { atMs: now, head: this.#head, writes: this.#writes }
      const begin = () => {
        const land = (replied: ReplyResult) => {
          this.#store(call, lasting, since, replied)
          resolve(replied.ok ? ok(answerOf(replied.value)) : replied)
        }
        led.push({ call, resolve: land })
        return promise
      }
      if (key === null) return begin()
      // What is null now, or not final, may be something else once more is known.
      const flight = `${this.#head} ${this.#writes} ${key}`
      if (!this.#isShared(flight, now)) this.#flights.forget(flight)
      const joined = this.#flights.join(flight, begin, now)
      return this.#flights.result(joined, err({ kind: 'upstream_timeout', source: this.#chain.name }), this.#deps.after)
    })
    if (led.length > 0) waitUntil(this.#fetch(led))
    return all(finding)
  }

  async #fetch(led: readonly PendingCall[]): Promise<void> {
    const replies = await this.#deps.upstream.request(led.map(({ call }) => call)).catch(() => [])
    for (const [at, { resolve }] of led.entries()) resolve(replies[at] ?? err({ kind: 'internal' }))
    // What was sent may show in the next answer only now.
    if (led.some(({ call }) => isWrite(call.method))) this.#writes++
  }

  /** A slow node's answer is of the block that was the newest when it was asked. */
  #isShared(flight: string, now: number): boolean {
    return now - (this.#flights.startedMs(flight) ?? now) < this.#chain.shareMs
  }

  #cached(key: string | null): RpcAnswer | undefined {
    const kept = key === null ? undefined : this.#cache.get(key)
    return kept !== undefined && this.#deps.now() < kept.untilMs ? kept.answer : undefined
  }

  /** Null: nobody else's answer will do. Parameters as they were written: two numbers that a double takes for one differ. */
  #keyOf({ method, params }: RpcCall, lasting: CacheLifetime): string | null {
    if (lasting === 'never' || params.length > KEY_MAX_LENGTH) return null
    const text = `${method} ${params === '' ? '[]' : params}`
    return lasting === 'newest' ? `${this.#head} ${this.#writes} ${text}` : text
  }

  /** Height of what was told; null of what tells none. */
  #noteHeight({ method }: RpcCall, lasting: CacheLifetime, result: unknown): number | null {
    // A block that is still being made has a height, too.
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
    // Copies: a part of a long reply would keep all of it in memory.
    const answer = { head: copied(head), tail: copied(tail), isCharged }
    const untilMs = since.atMs + forMs
    if (this.#deps.now() < untilMs) this.#cache.set(key, { answer, untilMs })
  }

  /** Whether nothing newer is known than what tells of this height, or of none. */
  #isCurrent(height: number | null, since: FetchContext): boolean {
    return since.writes === this.#writes && (height ?? since.head) === this.#head
  }

  #isFinal(height: number | null): boolean {
    const { finalityBlocks } = this.#chain
    return height !== null && finalityBlocks !== undefined && height <= this.#head - finalityBlocks
  }
}

/** The texts alone: what was read of them is many times as large, and callers may wait long. */
function answerOf({ head, tail, isCharged }: RpcAnswer): RpcAnswer {
  return { head, tail, isCharged }
}

function copied(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
