// Token bucket of a source's budget, in weight per minute, shared by all isolates. Invariant, for every schedule, lost
// response and restart: requests arriving at the source within any 60 s weigh at most the budget.
//
// Proof. Isolates keep a grant for a while (at most `spreadMs` until the request arrives), so the arrivals of one
// minute were granted within a minute plus the spread. Burst plus refill over that time equals the budget. Returned
// weight could be granted twice by a bucket that refilled meanwhile. So refilling stops while the bucket and all
// returnable weight together make a full bucket. All amounts are integer millionths of a weight.
//
// A request heavier than the available weight would starve while lighter requests use up the inflow. So each refused
// request has a claim, and half of the inflow is saved for the oldest claim until it is covered. Savings are part of
// the bucket that others cannot use, so the invariant is unaffected.

import { MINUTE_MS } from '../core/time.ts'
import { BUDGET_API_VERSION, type BudgetRequest, type BudgetResponse, type GrantUpdate } from './budget-api.ts'
import { areAlike, HEAVIEST_REQUEST } from './weight.ts'

const MICRO = 1_000_000
/** Minimum budget. Its burst and its refill can each cover the heaviest request. */
export const BUDGET_MIN = 2 * HEAVIEST_REQUEST
export const BUDGET_MAX = 1_000_000
/** Granted weight must be used within this time after it was requested. After that, it is lost. */
export const WEIGHT_TTL_MS = 3_000
/** A return that is sent before its grant expires arrives at most this long after the expiry. */
const RETURN_MS = 1_000
/** If a grant exceeds the current need, it is at most a full bucket divided by this number. */
const AHEAD_SHARE = 4
const BURST_SHARE = 8
/** How late a refused request may retry and still keep its claim. */
const CLAIM_GRACE_MS = 5_000

/** State that must survive a restart. */
export interface StoredBucket {
  readonly micro: number
  readonly atMs: number
}

/** Claim of the refused requests of one weight class, from any isolate. It ends when such a request is granted. */
interface Claim {
  readonly weight: number
  /** Weight that the heaviest of these requests lacks. */
  least: number
  /** Saved weight, in millionths. */
  saved: number
  /** Expiry of an unused claim. */
  untilMs: number
}

interface OutstandingGrant {
  weight: number
  readonly untilMs: number
}

export class WeightBucket {
  #micro: number | null
  #atMs: number
  /** Grants that may still be returned, oldest first. After a restart, no earlier grant can be returned. */
  readonly #outstanding = new Map<string, OutstandingGrant>()
  #outstandingWeight = 0
  /** Claims, oldest first. They are lost in a restart. */
  #claims: Claim[] = []

  /** `stored` is null if the bucket was never used. */
  constructor(stored: StoredBucket | null) {
    this.#micro = stored?.micro ?? null
    this.#atMs = stored?.atMs ?? 0
  }

  get stored(): StoredBucket {
    return { micro: this.#micro ?? 0, atMs: this.#atMs }
  }

  /** A small backward clock step changes nothing; after a large one, counting restarts from the new time. */
  exchange(ask: BudgetRequest, clockMs: number): BudgetResponse {
    if (this.#atMs - clockMs > MINUTE_MS) this.#resetClock(clockMs)
    const nowMs = Math.max(clockMs, this.#atMs)
    const full = burst(ask.perMinute)
    const perMs = refillPerMs(ask.perMinute, ask.spreadMs)
    for (const each of ask.news) this.#applyUpdate(each, nowMs)
    this.#expireGrants(nowMs)
    const previous = this.#micro ?? 0
    const refilled = this.#refilled(full, perMs, nowMs)
    const micro = Math.max(refilled - ask.owed * MICRO, -ask.perMinute * MICRO)
    this.#claims = this.#claims.filter(({ untilMs }) => untilMs > nowMs)
    this.#save((refilled - previous) / 2)
    const free = micro - this.#claims.reduce((sum, { saved }) => sum + saved, 0)
    const claim = this.#claims.find(({ weight }) => areAlike(weight, ask.weight))
    const usable = free + (claim?.saved ?? 0)
    const isRefused = usable < ask.least * MICRO
    const granted = isRefused ? 0 : Math.max(0, Math.min(Math.floor(usable / MICRO), grantTarget(ask, full)))
    if (!isRefused && claim !== undefined) this.#claims.splice(this.#claims.indexOf(claim), 1)
    this.#micro = micro - granted * MICRO
    this.#recordGrant(ask.grant, granted, nowMs)
    const waitMs = isRefused ? Math.ceil((ask.least * MICRO - usable) / perMs) : 0
    if (isRefused) this.#recordClaim(claim, ask, nowMs + waitMs + CLAIM_GRACE_MS)
    return {
      v: BUDGET_API_VERSION,
      granted,
      ttlMs: WEIGHT_TTL_MS,
      waitMs,
      left: Math.max(0, Math.floor(this.#micro / MICRO)),
    }
  }

  #recordClaim(known: Claim | undefined, { least, weight }: BudgetRequest, untilMs: number): void {
    if (known !== undefined) Object.assign(known, { least: Math.max(known.least, least), untilMs })
    else this.#claims.push({ weight, least, saved: 0, untilMs })
  }

  /** Saves only for the oldest claim: savings for several could fill the bucket and stop the inflow. */
  #save(micro: number): void {
    const [oldest] = this.#claims
    if (oldest !== undefined)
      oldest.saved += Math.min(Math.floor(micro), Math.max(0, oldest.least * MICRO - oldest.saved))
  }

  /** Outstanding grants can no longer be returned, as after a restart. */
  #resetClock(clockMs: number): void {
    this.#atMs = clockMs
    this.#outstanding.clear()
    this.#claims = []
    this.#outstandingWeight = 0
  }

  #refilled(full: number, perMs: number, nowMs: number): number {
    const room = (full - this.#outstandingWeight) * MICRO
    if (this.#micro === null) {
      this.#atMs = nowMs
      return room
    }
    // Any bucket is full after two minutes. The bound keeps the product an exact integer.
    const elapsedMs = Math.min(nowMs - this.#atMs, 2 * MINUTE_MS)
    this.#atMs = nowMs
    const micro = Math.min(this.#micro, full * MICRO)
    return micro + Math.max(0, Math.min(elapsedMs * perMs, room - micro))
  }

  #recordGrant(grant: string, weight: number, nowMs: number): void {
    if (weight === 0) return
    this.#outstanding.set(grant, { weight, untilMs: nowMs + WEIGHT_TTL_MS + RETURN_MS })
    this.#outstandingWeight += weight
  }

  #applyUpdate({ grant, returned, used }: GrantUpdate, nowMs: number): void {
    const outstanding = this.#outstanding.get(grant)
    if (outstanding === undefined || nowMs >= outstanding.untilMs || this.#micro === null) return
    const back = Math.min(returned, outstanding.weight)
    const settled = Math.min(back + used, outstanding.weight)
    outstanding.weight -= settled
    this.#outstandingWeight -= settled
    this.#micro += back * MICRO
  }

  #expireGrants(nowMs: number): void {
    for (const [grant, { weight, untilMs }] of this.#outstanding) {
      if (nowMs < untilMs) return
      this.#outstanding.delete(grant)
      this.#outstandingWeight -= weight
    }
  }
}

/** Capacity in whole weights. */
export function burst(perMinute: number): number {
  return Math.max(HEAVIEST_REQUEST, Math.floor(perMinute / BURST_SHARE))
}

/** Millionths per millisecond, rounded down. */
export function refillPerMs(perMinute: number, spreadMs: number): number {
  return Math.floor(((perMinute - burst(perMinute)) * MICRO) / (MINUTE_MS + spreadMs))
}

function grantTarget({ need, forecast }: BudgetRequest, full: number): number {
  return Math.max(need, Math.min(need + forecast, Math.floor(full / AHEAD_SHARE)))
}
