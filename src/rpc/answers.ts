// Answers of one chain and isolate: what never changes is kept, what is about the newest block is asked once for all who
// come meanwhile. Laws: bounded; what is shared about the newest block is of no block before one that this isolate has told
// of, nor of before a transaction that it has sent, nor was it asked for longer ago than the chain's `shareMs`; null and
// errors are not kept.

import { type Soon, together } from '../core/at-once.ts'
import { BoundedMap } from '../core/bounded-map.ts'
import type { After } from '../core/deadline.ts'
import type { Failure } from '../core/failure.ts'
import { Flights } from '../core/flights.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { RpcCall } from './calls.ts'
import type { RpcChain } from './chains.ts'
import { heightOf, isWrite, type Lasting, lastingOf } from './lasting.ts'
import type { RpcAnswer } from './replies.ts'
import type { Replied, RpcUpstream } from './rpc-upstream.ts'

export type Answered = Result<RpcAnswer, Failure>

export interface AnswersDeps {
  readonly upstream: Pick<RpcUpstream, 'ask' | 'view'>
  readonly now: () => number
  readonly after: After
  /** Characters of all that is kept. */
  readonly memoryMax: number
}

interface Kept {
  readonly answer: RpcAnswer
  readonly untilMs: number
}

/** What was known when a call was asked, and when that was. */
interface Since {
  readonly atMs: number
  readonly head: number
  readonly writes: number
}

/** A call that is asked for all who wait for it. */
interface Led {
  readonly call: RpcCall
  readonly land: (replied: Replied) => void
}

/** The longest text that is kept is this part of all. */
const TEXT_PART = 1 / 8
const ENTRY_LENGTH = 256
/** Calls with more parameters than that, and more calls at a time, are asked by themselves. */
const KEY_MAX_LENGTH = 4_096
const FLIGHTS_MAX = 2_000
/** A chain that is begun anew behind the same address is believed again after this time. */
const LASTING_MS = 3_600_000
/** A height that no answer reached for so long may never have been: a node's fault, or a chain begun anew. */
const HEAD_MS = 60_000
/** Longer than an ask can take. */
const FLIGHT_MAX_MS = 65_000

export class ChainAnswers {
  readonly #chain: Pick<RpcChain, 'name' | 'finalityBlocks' | 'shareMs'>
  readonly #deps: AnswersDeps
  readonly #kept: BoundedMap<string, Kept>
  readonly #flights = new Flights<Answered>(FLIGHT_MAX_MS, FLIGHTS_MAX)
  /** The newest height that was told here, and when it was last; -1: none yet. */
  #head = -1
  #headToldMs = 0
  /** Transactions sent from here. */
  #writes = 0

  constructor(chain: Pick<RpcChain, 'name' | 'finalityBlocks' | 'shareMs'>, deps: AnswersDeps) {
    this.#chain = chain
    this.#deps = deps
    this.#kept = new BoundedMap(
      deps.memoryMax,
      ({ answer }, key) => key.length + answer.head.length + answer.tail.length + ENTRY_LENGTH,
    )
  }

  /** What `GET /status` tells of the chain. */
  view(nowMs: number) {
    return { height: this.#head < 0 ? null : this.#head, nodes: this.#deps.upstream.view(nowMs) }
  }

  /** An answer out of memory. */
  fresh(call: RpcCall): RpcAnswer | undefined {
    return this.#fresh(this.#keyOf(call, lastingOf(call)))
  }

  /** A reply or failure for each call, at once where all are in memory; rejects never. `waitUntil`: others may wait for what is asked. */
  find(calls: readonly RpcCall[], waitUntil: WaitUntil): Soon<readonly Answered[]> {
    const now = this.#deps.now()
    const led: Led[] = []
    const finding = calls.map((call): Soon<Answered> => {
      const lasting = lastingOf(call)
      const key = this.#keyOf(call, lasting)
      const known = this.#fresh(key)
      if (known !== undefined) return ok(known)
      const { promise, resolve } = Promise.withResolvers<Answered>()
      if (isWrite(call.method)) this.#writes++
      const since = { atMs: now, head: this.#head, writes: this.#writes }
      const begin = () => {
        const land = (replied: Replied) => {
          this.#keep(call, lasting, since, replied)
          resolve(replied.ok ? ok(answerOf(replied.value)) : replied)
        }
        led.push({ call, land })
        return promise
      }
      if (key === null) return begin()
      // What is null now, or not final, may be something else once more is known.
      const flight = `${this.#head} ${this.#writes} ${key}`
      if (!this.#isShared(flight, now)) this.#flights.forget(flight)
      const joined = this.#flights.join(flight, begin, now)
      return this.#flights.landed(joined, err({ kind: 'upstream_timeout', source: this.#chain.name }), this.#deps.after)
    })
    if (led.length > 0) waitUntil(this.#ask(led))
    return together(finding)
  }

  async #ask(led: readonly Led[]): Promise<void> {
    const replies = await this.#deps.upstream.ask(led.map(({ call }) => call)).catch(() => [])
    for (const [at, { land }] of led.entries()) land(replies[at] ?? err({ kind: 'internal' }))
    // What was sent may show in the next answer only now.
    if (led.some(({ call }) => isWrite(call.method))) this.#writes++
  }

  /** A slow node's answer is of the block that was the newest when it was asked. */
  #isShared(flight: string, now: number): boolean {
    return now - (this.#flights.sinceMs(flight) ?? now) < this.#chain.shareMs
  }

  #fresh(key: string | null): RpcAnswer | undefined {
    const kept = key === null ? undefined : this.#kept.get(key)
    return kept !== undefined && this.#deps.now() < kept.untilMs ? kept.answer : undefined
  }

  /** Null: nobody else's answer will do. Parameters as they were written: two numbers that a double takes for one differ. */
  #keyOf({ method, params }: RpcCall, lasting: Lasting): string | null {
    if (lasting === 'never' || params.length > KEY_MAX_LENGTH) return null
    const text = `${method} ${params === '' ? '[]' : params}`
    return lasting === 'newest' ? `${this.#head} ${this.#writes} ${text}` : text
  }

  /** Height of what was told; null of what tells none. */
  #told({ method }: RpcCall, lasting: Lasting, result: unknown): number | null {
    // A block that is still being made has a height, too.
    const height = lasting === 'never' ? null : heightOf(method, result)
    if (height === null) return null
    const now = this.#deps.now()
    const mayFall = method === 'eth_blockNumber' && now - this.#headToldMs >= HEAD_MS
    if (height < this.#head && !mayFall) return height
    this.#head = height
    this.#headToldMs = now
    return height
  }

  #keep(call: RpcCall, lasting: Lasting, since: Since, replied: Replied): void {
    if (!replied.ok || replied.value.result === undefined || replied.value.result === null) return
    const height = this.#told(call, lasting, replied.value.result)
    const key = this.#keyOf(call, lasting)
    const { head, tail, isCharged } = replied.value
    if (key === null || head.length + tail.length > this.#deps.memoryMax * TEXT_PART) return
    if (lasting === 'final' && !this.#isFinal(height)) return
    if (lasting === 'newest' && !this.#isOfNow(height, since)) return
    const forMs = lasting === 'newest' ? this.#chain.shareMs : LASTING_MS
    // Copies: a part of a long reply would keep all of it in memory.
    const answer = { head: copied(head), tail: copied(tail), isCharged }
    const untilMs = since.atMs + forMs
    if (this.#deps.now() < untilMs) this.#kept.set(key, { answer, untilMs })
  }

  /** Whether nothing newer is known than what tells of this height, or of none. */
  #isOfNow(height: number | null, since: Since): boolean {
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
