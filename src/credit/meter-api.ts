// What a CreditMeter (one per account) answers over RPC. Types alone: the shell is credit-meter.do.ts.

import type { PlanOrder, PlanState } from './plans/plan-period.ts'
import type { RequestAnswer, RequestAsk } from './request-lease.ts'
import type { StreamMeterApi } from './streams/stream-api.ts'
import type { WebhookApi } from './webhooks/webhook-api.ts'

export const METER_API_VERSION = 1

/** Amounts are integers of micro-credits: 1 credit = 1,000,000. */
export type MicroCredits = number

export type ChargeAnswer =
  /** `repeated`: this charge id had taken effect before; nothing was charged again. */
  | { readonly v: number; readonly ok: true; readonly remaining: MicroCredits; readonly repeated: boolean }
  | { readonly v: number; readonly ok: false; readonly reason: 'exhausted'; readonly remaining: MicroCredits }
  | { readonly v: number; readonly ok: false; readonly reason: 'revoked' }

/** One direct charge. `id` takes effect at most once. */
export interface Charge {
  readonly id: string
  readonly keyHash: string
  readonly amount: MicroCredits
  /** What usage is recorded under: product and wire type, such as `stream` and `l2BookDiff`. */
  readonly product: string
  readonly type: string
}

export interface CreditMeterApi {
  /** Charges directly, without a lease. */
  charge(charge: Charge): Promise<ChargeAnswer>
}

/** What one (product, type) has cost under a lease so far: cumulative, so a repeated report changes nothing. */
export interface UsageLine {
  readonly product: string
  readonly type: string
  readonly calls: number
  readonly amount: MicroCredits
}

/**
 * One exchange about one lease: report what was spent and, with `need`, ask for more. All numbers are cumulative
 * over the lease, so a lost or repeated exchange is harmless. The first exchange of a lease id opens it.
 */
export interface LeaseRequest {
  readonly v: number
  /** Drawn by the isolate; never used again after `close`. */
  readonly lease: string
  readonly keyHash: string
  readonly spent: MicroCredits
  readonly usage: readonly UsageLine[]
  /** The least that helps the call at the head of the queue; 0: report and renew the deadline only. */
  readonly need: MicroCredits
  /** What all waiting calls need together; at least `need`. */
  readonly waiting: MicroCredits
  /** What the isolate would like beyond that, by its recent use. The meter decides. */
  readonly forecast: MicroCredits
  /** Gives back all that is unspent and ends the lease. Nothing may be in flight on it. */
  readonly close: boolean
  /** Tokens of a request limit, taken along. */
  readonly requests?: RequestAsk
}

/**
 * `requests` is there where they were asked for and the lease lives on; `changedMs` where the key's record at the edge,
 * or its plan, was changed then: an older copy is not to be believed.
 */
export type LeaseAnswer =
  /** `granted` is cumulative; `ttlMs` counts from when the isolate sent the request; `remaining` lies outside all leases. */
  | {
      readonly v: number
      readonly ok: true
      readonly granted: MicroCredits
      readonly ttlMs: number
      readonly remaining: MicroCredits
      readonly requests?: RequestAnswer
      readonly changedMs?: number
    }
  /** `gone`: closed, reclaimed or never seen; open another. `exhausted`: less than `need` remains; the lease lives on. */
  | {
      readonly v: number
      readonly ok: false
      readonly reason: 'exhausted' | 'revoked' | 'gone'
      readonly remaining: MicroCredits
      readonly changedMs?: number
    }

/** Sums of an account: `granted` (and not expired) = `available` + `held` + `spent`, at every moment. */
export interface AccountState {
  readonly available: MicroCredits
  /** Granted to open leases and not yet reported as spent. */
  readonly held: MicroCredits
  readonly spent: MicroCredits
  readonly granted: MicroCredits
  /** Reported so late that the balance no longer covered it. */
  readonly writtenOff: MicroCredits
}

export type GrantAnswer =
  /** `repeated`: this grant id had taken effect before with the same amount. */
  | { readonly v: number; readonly ok: true; readonly repeated: boolean; readonly account: AccountState }
  /** `conflict`: the id was used with another amount. `too_large`: the sum would leave exact integers. */
  | { readonly v: number; readonly ok: false; readonly reason: 'conflict' | 'too_large' }

export interface UsageRow extends UsageLine {
  /** Unix ms of the start of the hour. */
  readonly hour: number
  readonly keyHash: string
}

/** What a key used on a UTC day. */
export interface DayUsage {
  /** Unix ms of the start of the day. */
  readonly day: number
  readonly keyHash: string
  readonly calls: number
  readonly amount: MicroCredits
}

/** What a meter asks of the gateway, which has D1: rows with the sum of their hour so far. Again is the same. */
export interface UsageKeeper {
  keepUsage(rows: readonly UsageRow[]): Promise<void>
}

/** What isolates ask of a meter: the smallest port that the lease client needs. */
export interface LeaseMeterApi {
  lease(request: LeaseRequest): Promise<LeaseAnswer>
}

/** What the operator's surfaces ask of a meter. */
export interface AccountMeterApi {
  /** Adds credits, once per `id`. */
  grantCredits(id: string, amount: MicroCredits): Promise<GrantAnswer>
  /** From now on every charge and lease of this key answers `revoked`. Idempotent. */
  revokeKey(keyHash: string): Promise<void>
  /** D1 says something else now of this key (null: of all): isolates hear it with their next lease. */
  noteChange(keyHash: string | null): Promise<void>
  /** Bounds what a key may spend in all, what it spent before included; null: as much as the account has. */
  capKey(keyHash: string, cap: MicroCredits | null): Promise<void>
  /** The new key shares the cap of the one that it replaces, and what was spent under it. Idempotent. */
  inheritKey(oldHash: string, newHash: string): Promise<void>
  /** What the account or a key of it may do has changed in D1: relays look their callers up anew. */
  termsChanged(): Promise<void>
  balance(): Promise<AccountState>
  /** Begins a plan for an account that has none; false, and nothing done, where it has one. */
  beginPlan(order: PlanOrder): Promise<boolean>
  /** Puts the account on this plan now. The same plan with the same terms changes nothing. */
  changePlan(order: PlanOrder): Promise<PlanState>
  /** What later periods of this plan give; the running one stays. Nothing happens on another plan. Idempotent. */
  renewWith(plan: string, everyMicro: MicroCredits): Promise<void>
  /** Null for an account that was made before plans had periods. */
  plan(): Promise<PlanState | null>
  /** Usage rows of hours from `fromMs` on, oldest first, at most 10,000. */
  usage(fromMs: number): Promise<readonly UsageRow[]>
  /** Sums per day and key of hours from `fromMs` and before `toMs`, oldest first. */
  usageByDay(fromMs: number, toMs: number): Promise<readonly DayUsage[]>
}

/** Everything that the Durable Object answers. */
export type WholeMeterApi = CreditMeterApi & LeaseMeterApi & AccountMeterApi & StreamMeterApi & WebhookApi
