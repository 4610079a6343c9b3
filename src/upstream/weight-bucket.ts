// The token bucket of a source's budget, in weights per minute, shared by all isolates. Law, for every schedule, every
// lost answer and every restart: the requests that arrive at the source within any 60 s weigh at most the budget.
//
// Why it holds. Isolates hold what is granted for a while (`spreadMs` at most until the request arrives), so arrivals of
// a minute were granted within a minute and the spread. The bucket refills slowly enough that its burst and the refill
// of that time are the budget together. Returned weight would let a bucket that has refilled meanwhile give it twice:
// therefore the refill stops while what is in the bucket and what can still be returned make a full one.
// Everything is counted in whole millionths of a weight.
//
// A request that weighs more than there is would never come, while lighter ones take each weight as it flows in. So what
// is refused has a claim: half of what flows in is saved for the oldest claim, until it has its weight.
// Savings are a part of the bucket that others are not given, so the law above knows nothing of them.

import { MINUTE_MS } from '../core/time.ts'
import { BUDGET_API_VERSION, type BudgetRequest, type BudgetResponse, type GrantUpdate } from './budget-api.ts'
import { areAlike, HEAVIEST_REQUEST } from './weight.ts'

const MICRO = 1_000_000
/** Burst and refill below have to leave room for the heaviest request. */
export const BUDGET_MIN = 2 * HEAVIEST_REQUEST
export const BUDGET_MAX = 1_000_000
/** Granted weight is sent within this time of asking, or lost. */
export const WEIGHT_TTL_MS = 3_000
/** A return that was sent in time arrives within this time. */
const RETURN_MS = 1_000
/** An isolate may take at most this part of a full bucket beyond what its requests need now. */
const AHEAD_SHARE = 4
const BURST_SHARE = 8
/** How much later than told a request may come again. */
const CLAIM_GRACE_MS = 5_000

/** What has to outlive a restart. */
export interface StoredBucket {
  readonly micro: number
  readonly atMs: number
}

/** Of requests that are alike, of any isolate: they are refused, and come again when they are told to. */
interface Claim {
  readonly weight: number
  /** What is needed of the bucket for it. */
  least: number
  /** Millionths. */
  saved: number
  /** Nobody came for it. */
  untilMs: number
}

interface OutstandingGrant {
  weight: number
  readonly untilMs: number
}

export class WeightBucket {
  #micro: number | null
  #atMs: number
  /** Grants that may still be returned, oldest first. A restart forgets them: then they cannot be. */
  readonly #outstanding = new Map<string, OutstandingGrant>()
  #outstandingWeight = 0
  /** Oldest first. A restart forgets them. */
  #claims: Claim[] = []

  /** Null: a bucket nobody has taken from. */
  constructor(stored: StoredBucket | null) {
    this.#micro = stored?.micro ?? null
    this.#atMs = stored?.atMs ?? 0
  }

  get stored(): StoredBucket {
    return { micro: this.#micro ?? 0, atMs: this.#atMs }
  }

  /** A clock that steps back gives nothing and takes nothing; one that is set back for good counts from there. */
  exchange(ask: BudgetRequest, clockMs: number): BudgetResponse {
    if (this.#atMs - clockMs > MINUTE_MS) this.#resetClock(clockMs)
    const nowMs = Math.max(clockMs, this.#atMs)
    const full = burst(ask.perMinute)
    const perMs = refillPerMs(ask.perMinute, ask.spreadMs)
    for (const each of ask.news) this.#applyUpdate(each, nowMs)
    this.#expireGrants(nowMs)
    const held = this.#micro ?? 0
    const before = this.#refilled(full, perMs, nowMs)
    const micro = Math.max(before - ask.owed * MICRO, -ask.perMinute * MICRO)
    this.#claims = this.#claims.filter(({ untilMs }) => untilMs > nowMs)
    this.#save((before - held) / 2)
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

  /** For the oldest alone: savings of several could fill the bucket, and nothing would flow in for anybody. */
  #save(micro: number): void {
    const [oldest] = this.#claims
    if (oldest !== undefined)
      oldest.saved += Math.min(Math.floor(micro), Math.max(0, oldest.least * MICRO - oldest.saved))
  }

  /** As after a restart: what is out cannot come back. */
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
    // More than two minutes fill any bucket; the bound keeps the product exact.
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
    const out = this.#outstanding.get(grant)
    if (out === undefined || nowMs >= out.untilMs || this.#micro === null) return
    const back = Math.min(returned, out.weight)
    const gone = Math.min(back + used, out.weight)
    out.weight -= gone
    this.#outstandingWeight -= gone
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

/** Whole weights of a full bucket. */
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
