// Messages between a relay and an account's meter: minutes, sockets, revoked keys. Types only. Times are durations,
// because the two clocks are not synchronized.

import type { MicroCredits } from '../../core/amount.ts'
import type { KeyHash } from '../../core/ids.ts'
import type { LogBatch } from '../request-log/log-api.ts'

/**
 * Minutes to charge: the first one before the acknowledgment, later ones once they have started, several at a time while
 * the account has ample credits.
 */
export interface MinuteCharge {
  /** Globally unique: relay name, slash, id. */
  readonly subscription: string
  /** Number of the last minute; 0 is the first. Each minute is charged at most once, however often it is requested. */
  readonly ordinal: number
  /** Number of minutes, up to and including this one. */
  readonly count: number
  readonly keyHash: KeyHash
  /** Wire type under which usage is recorded. */
  readonly type: string
  /** Price of one minute. */
  readonly amount: MicroCredits
  /** Digest of the exact body. */
  readonly body: string
  /** Remaining part of the last minute. */
  readonly leftMs: number
  /** Truncated body, shown to the owner. Sent only with a first minute. */
  readonly shown?: string | undefined
  /** Present if the spending is that of visitors who have no key: their common hourly limit. */
  readonly visitorsPerHour?: MicroCredits | undefined
}

/** The visitor budget is used up for now. */
export interface VisitorsBusy {
  readonly ok: false
  readonly reason: 'busy'
  readonly busyMs: number
}

/** The account has too few credits, or the key's `cap` allows too few. */
export interface Exhausted {
  readonly ok: false
  readonly reason: 'exhausted'
  readonly remaining: MicroCredits
  /** The key's cap, if the cap is the reason. */
  readonly cap?: MicroCredits | undefined
}

/** `leftMs`: usable rest of the paid minute; 0 or less if the minute is over. */
export type MinuteResult =
  | { readonly ok: true; readonly leftMs: number }
  | Exhausted
  | VisitorsBusy
  /** `limit`: the plan's subscription limit is reached. `ended`: the meter has already recorded the end. */
  | { readonly ok: false; readonly reason: 'revoked' | 'limit' | 'ended' }

/** End of a subscription. The rest of its last minute is kept for one new subscription with the same key and body. */
export interface StreamEnd {
  readonly subscription: string
  /** Digest of its final body. */
  readonly body: string
  readonly leftMs: number
  /**
   * Set if the first minute could not be served. The meter then refunds its charge or restores the rest that it used.
   */
  readonly unserved?: { readonly type: string; readonly amount: MicroCredits }
}

/** Everything a relay reports about one account. Repeated reports change nothing. */
export interface StreamReport {
  readonly v: number
  readonly relay: string
  /** Start time of the relay's object by its own clock. It is larger after each restart. */
  readonly life: number
  /**
   * Ids of the active subscriptions in the first report after a start, otherwise null. The meter ends all other
   * subscriptions of this relay.
   */
  readonly alive: readonly string[] | null
  /** Current state of the account on this relay; replaces earlier reports. */
  readonly sockets: number
  readonly subscriptions: number
  readonly perMinute: MicroCredits
  readonly keys: readonly KeyHash[]
  /** The account's limits, from the identities of its callers. */
  readonly limits: { readonly connections: number; readonly subscriptions: number }
  /** Keys of sockets waiting for admission. */
  readonly connects: readonly KeyHash[]
  readonly charges: readonly MinuteCharge[]
  readonly ends: readonly StreamEnd[]
  /** Events of the account's sockets that the meter may not have yet. */
  readonly log?: LogBatch
}

/** `limit`: the plan's connection limit is reached. `exhausted`: the account cannot pay for any minute. */
export type ConnectVerdict = 'in' | 'revoked' | 'limit' | 'exhausted'

export interface StreamResponse {
  readonly v: number
  /** One verdict per waiting socket, in the order of the report. */
  readonly connects: readonly ConnectVerdict[]
  readonly minutes: readonly MinuteResult[]
  /** Those of the reported keys that were revoked. */
  readonly revoked: readonly KeyHash[]
  /** Credits available to streams. `available` excludes leased credits, `left` includes them. */
  readonly available: MicroCredits
  readonly left: MicroCredits
  /** Maximum amount of the account's minutes that this relay may leave unpaid until a later report. */
  readonly unpaidMax: MicroCredits
  /** A tenth or less of the period's credits is left. */
  readonly isLow: boolean
  /** Total price of the next minute for all subscriptions of the account on all relays. */
  readonly nextMinute: MicroCredits
  /** Increases when the terms of the account or one of its keys change. */
  readonly terms: number
}

export interface StreamMeterApi {
  stream(report: StreamReport): Promise<StreamResponse>
}

/** An active subscription, as shown to its owner. */
interface RunningStream {
  readonly keyHash: KeyHash
  readonly type: string
  /** Truncated body; empty if the relay did not report it. */
  readonly shown: string
  readonly sinceMs: number
  readonly amount: MicroCredits
}

/** Open streams of an account on all relays; `listed` contains the most expensive ones. */
export interface StreamView {
  readonly sockets: number
  readonly subscriptions: number
  readonly perMinute: MicroCredits
  readonly listed: readonly RunningStream[]
}
