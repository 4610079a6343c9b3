// A lease: what an isolate and the meter of an account tell each other about credits and requests that are spent without
// asking. Types alone.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import type { UsageLine } from './usage.ts'

/**
 * One exchange about one lease: report what was spent and, with `need`, ask for more. All numbers are cumulative
 * over the lease, so a lost or repeated exchange is harmless. The first exchange of a lease id opens it; an id that was
 * closed is forgotten.
 */
export interface LeaseRequest {
  readonly v: number
  /** Drawn by the isolate; never used again after `close`. */
  readonly lease: string
  readonly keyHash: KeyHash
  readonly spent: MicroCredits
  readonly usage: readonly UsageLine[]
  /** The least that helps the call at the head of the queue; 0: nothing waits. */
  readonly need: MicroCredits
  /** What all waiting calls need together; at least `need`. */
  readonly waiting: MicroCredits
  /** What the isolate would like beyond that, by its recent use. The meter decides. */
  readonly forecast: MicroCredits
  /** Gives back all that is unspent and ends the lease. Nothing may be in flight on it. */
  readonly close: boolean
  readonly requests?: RateTokenRequest
  /** It is visitors without a key who spend: all of them together so much an hour. */
  readonly visitorsPerHour?: MicroCredits | undefined
}

/**
 * `requests` is there where they were asked for and the lease lives on; `changedMs` where the key's record at the edge,
 * or its plan, was changed then: an older copy is not to be believed. `left` is what the key may still spend, all that is
 * leased included. `cap` is the key's, where that is what leaves too little; `busyMs` is there where it is the visitors'
 * budget, until there is as much as was needed.
 */
export type LeaseResponse =
  /** `granted` is cumulative; `ttlMs` counts from when the isolate sent the request; `remaining` lies outside all leases. */
  | {
      readonly v: number
      readonly ok: true
      readonly granted: MicroCredits
      readonly ttlMs: number
      readonly remaining: MicroCredits
      readonly left: MicroCredits
      readonly requests?: RateTokenResponse
      readonly changedMs?: number
    }
  /** `gone`: closed, reclaimed or never seen; open another. `exhausted`: less than `need` remains; the lease lives on. */
  | {
      readonly v: number
      readonly ok: false
      readonly reason: 'exhausted' | 'revoked' | 'gone'
      readonly remaining: MicroCredits
      readonly left: MicroCredits
      readonly cap?: MicroCredits | undefined
      readonly busyMs?: number | undefined
      readonly changedMs?: number
    }

/** What an isolate asks for along with a lease. */
export interface RateTokenRequest {
  readonly bucket: string
  readonly perSecond: number
  /** Calls that wait for a token. */
  readonly need: number
  /** Tokens that it would like beyond those. */
  readonly forecast: number
}

/** `waitMs` until the bucket has another token, 0 if it has; `remaining` is what is left in it. */
export interface RateTokenResponse {
  readonly granted: number
  readonly waitMs: number
  readonly remaining: number
}

/** What isolates ask of a meter: the smallest port that the lease client needs. */
export interface LeaseMeterApi {
  lease(request: LeaseRequest): Promise<LeaseResponse>
}
