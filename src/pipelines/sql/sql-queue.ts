// Decides whose SQL runs next in an object that runs one batch at a time. Invariants: an account that has used up its
// CPU time waits for a refill; the account with the most CPU time left is served first, so that light users never wait
// for heavy ones; a pipeline that exceeds its limits waits longer each time; the queue is bounded; every wait has a
// reason.

import { backoffMs } from '../../core/backoff.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { AccountId } from '../../core/ids.ts'
import { type Bucket, borrowTokens, fullBucket, takeTokens } from '../../core/token-bucket.ts'
import type { SqlCaller, SqlWait } from './sql-api.ts'

/** CPU milliseconds per account. */
const CPU = { perSecond: 100, burst: 5_000 }
const MAX_ACCOUNTS = 10_000
/** Delay after a run that exceeded its limits. */
const PENALTY = { firstMs: 10_000, capMs: 600_000, jitter: 0 }
/** Queued batches per account and in total. */
const MAX_QUEUED_PER_ACCOUNT = 8
const MAX_QUEUED = 32
/** Concurrent tests and checks of all accounts. */
const MAX_SLOTS = 4
/** Longer than any test. After this time, the slot of a caller that disappeared expires. */
const SLOT_MS = 70_000
/** If a run was quicker than this, the pipeline's next run starts without storing a strike first. */
const QUICK_MS = 500
const MAX_QUICK = 10_000
/** Maximum time in the queue. */
const QUEUE_TIMEOUT_MS = 15_000
const RETRY_SOON_MS = 1_000

/** Consecutive runs that exceeded their limits, and when the next may start. */
export interface Strikes {
  readonly count: number
  readonly untilMs: number
}

/** Persistent strikes by pipeline. */
export interface StrikeStore {
  get(pipeline: string): Strikes | null
  put(pipeline: string, strikes: Strikes): void
  delete(pipeline: string): void
}

interface QueuedRun<Go> {
  readonly caller: SqlCaller
  readonly sinceMs: number
  readonly start: Go
}

const wait = (waitMs: number, words: string): SqlWait => ({ waitMs: Math.max(1, Math.ceil(waitMs)), words })

const SLOT_TAKEN_MESSAGE = 'Another test or check of this account is running. Try again when it has finished'
const NO_SLOT_MESSAGE = 'Too many tests are running. Try again in a few seconds'
const QUEUED_MESSAGE = 'The SQL runner is busy. This run is waiting for its turn'
const CPU_SPENT_MESSAGE = `The transforms of this account have used their CPU time (${inGroups(CPU.burst)} ms burst, ${CPU.perSecond} ms per second). Select less, or wait`
const strikeMessage = (count: number) =>
  `The last ${count === 1 ? 'run' : `${count} runs`} of these transforms exceeded the limits of a run, so the next one waits longer. Select less`

export class SqlQueue<Go extends (refused: SqlWait | null) => void> {
  readonly #strikes: StrikeStore
  readonly #cpu = new BoundedMap<string, Bucket>(MAX_ACCOUNTS)
  /** Expiry of each account's test slot. */
  readonly #slots = new Map<string, number>()
  readonly #queued: QueuedRun<Go>[] = []
  /** Pipelines whose last run was quick. */
  readonly #quick = new Set<string>()

  constructor(strikes: StrikeStore) {
    this.#strikes = strikes
  }

  /** Acquires the account's slot; returns a wait if the account or all slots are busy. */
  acquireSlot(account: AccountId, nowMs: number): SqlWait | null {
    for (const [holder, untilMs] of this.#slots) if (untilMs <= nowMs) this.#slots.delete(holder)
    if (this.#slots.has(account)) return wait(RETRY_SOON_MS, SLOT_TAKEN_MESSAGE)
    const cpuWait = this.#cpuWait(account, nowMs)
    if (cpuWait !== null) return cpuWait
    if (this.#slots.size >= MAX_SLOTS) return wait(RETRY_SOON_MS, NO_SLOT_MESSAGE)
    this.#slots.set(account, nowMs + SLOT_MS)
    return null
  }

  releaseSlot(account: AccountId): void {
    this.#slots.delete(account)
  }

  /** Calls `go` once: with null at the caller's turn, or with a wait. */
  enqueue(caller: SqlCaller, go: Go, nowMs: number): void {
    const refused = this.#requiredWait(caller, nowMs)
    if (refused !== null) return go(refused)
    const own = this.#queued.filter(({ caller: { account } }) => account === caller.account)
    if (own.length >= MAX_QUEUED_PER_ACCOUNT || this.#queued.length >= MAX_QUEUED)
      return go(wait(RETRY_SOON_MS, QUEUED_MESSAGE))
    this.#queued.push({ caller, start: go, sinceMs: nowMs })
  }

  /** Starts the next run; false: the queue is empty. */
  startNext(nowMs: number): boolean {
    while (this.#queued.length > 0) {
      const at = this.#nextIndex(nowMs)
      const [{ caller, start, sinceMs }] = this.#queued.splice(at, 1) as [QueuedRun<Go>]
      const refused =
        nowMs - sinceMs > QUEUE_TIMEOUT_MS ? wait(RETRY_SOON_MS, QUEUED_MESSAGE) : this.#requiredWait(caller, nowMs)
      start(refused)
      if (refused === null) return true
    }
    return false
  }

  /**
   * Returns whether a strike was added that must be stored before the run. A run not known to be quick may end with the
   * isolate, so it counts as exceeding its limits until it ends.
   */
  onStart({ pipeline, kind }: SqlCaller, nowMs: number): boolean {
    if (kind === 'check' || this.#quick.has(pipeline)) return false
    this.#addStrike(pipeline, nowMs)
    return true
  }

  /** Records the CPU time of a run and whether it exceeded its limits. */
  onEnd({ account, pipeline, kind }: SqlCaller, cpuMs: number, isOver: boolean, nowMs: number): void {
    const bucket = this.#cpu.get(account) ?? fullBucket(CPU, nowMs)
    this.#cpu.set(account, borrowTokens(bucket, CPU, Math.ceil(cpuMs), nowMs).bucket)
    if (kind === 'check') return
    if (!isOver) this.#strikes.delete(pipeline)
    else if (this.#quick.has(pipeline)) this.#addStrike(pipeline, nowMs)
    if (this.#quick.size >= MAX_QUICK) this.#quick.clear()
    if (!isOver && cpuMs < QUICK_MS) this.#quick.add(pipeline)
    else this.#quick.delete(pipeline)
  }

  #addStrike(pipeline: string, nowMs: number): void {
    const count = (this.#strikes.get(pipeline)?.count ?? 0) + 1
    this.#strikes.put(pipeline, { count, untilMs: nowMs + backoffMs(PENALTY, count - 1, 0) })
  }

  #requiredWait({ account, pipeline, kind }: SqlCaller, nowMs: number): SqlWait | null {
    const strikes = kind === 'check' ? null : this.#strikes.get(pipeline)
    // A longer wait means that the clock was set back.
    const restMs = Math.min(PENALTY.capMs, (strikes?.untilMs ?? 0) - nowMs)
    if (strikes !== null && restMs > 0) return wait(restMs, strikeMessage(strikes.count))
    return this.#cpuWait(account, nowMs)
  }

  #cpuWait(account: AccountId, nowMs: number): SqlWait | null {
    const bucket = this.#cpu.get(account)
    if (bucket === undefined) return null
    const { waitMs } = takeTokens(bucket, CPU, 0, nowMs)
    return waitMs > 0 ? wait(waitMs, CPU_SPENT_MESSAGE) : null
  }

  /** Index of the account with the most CPU time left. On a tie, the account that queued first is chosen. */
  #nextIndex(nowMs: number): number {
    const left = this.#queued.map(({ caller: { account } }) => {
      const bucket = this.#cpu.get(account) ?? fullBucket(CPU, nowMs)
      return takeTokens(bucket, CPU, 0, nowMs).bucket.milliTokens
    })
    return left.indexOf(Math.max(...left))
  }
}
