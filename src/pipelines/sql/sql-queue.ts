// Whose SQL runs next in an object that runs one batch at a time. Laws: an account that has used up its CPU time waits until
// that is refilled; the account with the most left goes first, so that who asks for little never waits for who asks for much; a
// pipeline whose transforms exceeded their budget waits longer each time; what waits is bounded; a wait says why.

import { backoffMs } from '../../core/backoff.ts'
import { BoundedMap } from '../../core/bounded-map.ts'
import type { AccountId } from '../../core/ids.ts'
import { type Bucket, borrowTokens, fullBucket, takeTokens } from '../../core/token-bucket.ts'
import type { SqlCaller, SqlWait } from './sql-api.ts'

/** Milliseconds of CPU time of one account. */
const CPU = { perSecond: 100, burst: 5_000 }
const MAX_ACCOUNTS = 10_000
/** After a run that exceeded its budget. */
const PENALTY = { firstMs: 10_000, capMs: 600_000, jitter: 0 }
/** Batches that wait, of one account and in all. */
const MAX_QUEUED_PER_ACCOUNT = 8
const MAX_QUEUED = 32
/** Tests and checks of all accounts at once. */
const MAX_SLOTS = 4
/** Longer than a test takes: one whose caller vanished is over then. */
const SLOT_MS = 70_000
/** A run that took less is followed by others without a strike before. */
const QUICK_MS = 500
const MAX_QUICK = 10_000
/** A caller does not wait for its turn longer than this. */
const QUEUE_TIMEOUT_MS = 15_000
const RETRY_SOON_MS = 1_000

/** Runs in a row that exceeded their budget, and until when the next one waits. */
export interface Strikes {
  readonly count: number
  readonly untilMs: number
}

/** Where strikes outlive the object; by the pipeline. */
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

const SLOT_TAKEN_MESSAGE = 'another test or check of this account is running: wait for it, then send this again'
const NO_SLOT_MESSAGE = 'the gateway runs as many tests as it can: send this again in a few seconds'
const QUEUED_MESSAGE = 'the gateway runs SQL of others: this waits for its turn'
const CPU_SPENT_MESSAGE = `the transforms of this account have used their CPU time (${CPU.burst} ms at once, ${CPU.perSecond} ms a second on average): select less, or wait`
const strikeMessage = (count: number) =>
  `the last ${count === 1 ? 'run' : `${count} runs`} of these transforms exceeded the budget of a run, so the next one waits longer: select less`

export class SqlQueue<Go extends (refused: SqlWait | null) => void> {
  readonly #strikes: StrikeStore
  readonly #cpu = new BoundedMap<string, Bucket>(MAX_ACCOUNTS)
  /** Until when the test or check of an account has its slot. */
  readonly #slots = new Map<string, number>()
  readonly #queued: QueuedRun<Go>[] = []
  /** Pipelines whose last run was quick. */
  readonly #quick = new Set<string>()

  constructor(strikes: StrikeStore) {
    this.#strikes = strikes
  }

  /** Takes the account's slot for a test or a check; a wait where it has one, or all are taken. */
  acquireSlot(account: AccountId, nowMs: number): SqlWait | null {
    for (const [holder, untilMs] of this.#slots) if (untilMs <= nowMs) this.#slots.delete(holder)
    if (this.#slots.has(account)) return wait(RETRY_SOON_MS, SLOT_TAKEN_MESSAGE)
    const spent = this.#cpuWait(account, nowMs)
    if (spent !== null) return spent
    if (this.#slots.size >= MAX_SLOTS) return wait(RETRY_SOON_MS, NO_SLOT_MESSAGE)
    this.#slots.set(account, nowMs + SLOT_MS)
    return null
  }

  releaseSlot(account: AccountId): void {
    this.#slots.delete(account)
  }

  /** `go` is called once: with null when it is this caller's turn, or with a wait. */
  enqueue(caller: SqlCaller, go: Go, nowMs: number): void {
    const refused = this.#requiredWait(caller, nowMs)
    if (refused !== null) return go(refused)
    const own = this.#queued.filter(({ caller: { account } }) => account === caller.account)
    if (own.length >= MAX_QUEUED_PER_ACCOUNT || this.#queued.length >= MAX_QUEUED)
      return go(wait(RETRY_SOON_MS, QUEUED_MESSAGE))
    this.#queued.push({ caller, start: go, sinceMs: nowMs })
  }

  /** Begins the turn of whoever is next; false: nobody waits. */
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
   * Whether a strike was put that has to be stored before the run: one that is not known to be quick may end with the isolate, so
   * it counts as exceeding its budget until it ends.
   */
  onStart({ pipeline, kind }: SqlCaller, nowMs: number): boolean {
    if (kind === 'check' || this.#quick.has(pipeline)) return false
    this.#addStrike(pipeline, nowMs)
    return true
  }

  /** What came of a run: the CPU time that it took, and whether it exceeded its budget. */
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
    // Of a longer time the clock went back.
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

  /** The place of the account with the most CPU time left; of several, of who came first. */
  #nextIndex(nowMs: number): number {
    const left = this.#queued.map(({ caller: { account } }) => {
      const bucket = this.#cpu.get(account) ?? fullBucket(CPU, nowMs)
      return takeTokens(bucket, CPU, 0, nowMs).bucket.milliTokens
    })
    return left.indexOf(Math.max(...left))
  }
}
