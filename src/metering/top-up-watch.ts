// When a meter asks for an automatic top-up. Invariants (test/metering/top-up-watch.test.ts): it asks once the balance is
// below the level, at once; it asks again until the answer says that nothing is in progress; a balance that stays low is
// asked about again; an account without automatic top-ups is never asked about.

import type { MicroCredits } from '../core/amount.ts'
import type { AccountId } from '../core/ids.ts'
import { MINUTE_MS } from '../core/time.ts'

export interface TopUpWatch {
  /** An object does not know its own name. */
  readonly account: AccountId
  readonly below: MicroCredits
  /** Unix ms of the next question; null: none. */
  readonly nextMs: number | null
}

/** `off`: there are no automatic top-ups. `idle`: none is in progress. `wait`: ask again after `ms`. */
export type TopUpAnswer = { readonly state: 'off' | 'idle' } | { readonly state: 'wait'; readonly ms: number }

/** An answer that is lost is asked for again. */
const LOST_MS = MINUTE_MS
/** A longer wait would be lost to a change of the settings that does not reach the meter. */
const WAIT_MAX_MS = 24 * 60 * MINUTE_MS

/** `left`: balance after a change. */
export function atBalance(watch: TopUpWatch, left: MicroCredits, nowMs: number): TopUpWatch {
  return watch.nextMs === null && left < watch.below ? { ...watch, nextMs: nowMs } : watch
}

/** Stored before the question is sent. */
export const withQuestion = (watch: TopUpWatch, nowMs: number): TopUpWatch => ({ ...watch, nextMs: nowMs + LOST_MS })

/** Null: the watch ends. */
export function answered(watch: TopUpWatch, answer: TopUpAnswer, left: MicroCredits, nowMs: number): TopUpWatch | null {
  switch (answer.state) {
    case 'off':
      return null
    case 'wait':
      return { ...watch, nextMs: nowMs + Math.min(answer.ms, WAIT_MAX_MS) }
    case 'idle':
      return { ...watch, nextMs: left < watch.below ? nowMs + LOST_MS : null }
  }
}

/** Why automatic top-ups stop. */
export const TOP_UP_STOPS = ['declined', 'authentication_required', 'card_removed', 'price_changed'] as const

export interface StoppedTopUp {
  readonly reason: (typeof TOP_UP_STOPS)[number]
  /** Unix ms. */
  readonly atMs: number
  /** Order whose charge failed; null: none. */
  readonly order: string | null
}

export interface TopUpMeterApi {
  /** Replaces the watch, and asks at once if the balance is low. Without `isNew`, an equal watch stays as it is. */
  watchTopUp(watch: Omit<TopUpWatch, 'nextMs'>, isNew: boolean): Promise<void>
  /** Sends an event to the webhook of the account, if there is one, once per stop. */
  topUpStopped(account: AccountId, stop: StoppedTopUp): Promise<void>
}

export interface TopUpGateway {
  /** Continues the top-ups of an account. `isLow`: its balance is below the level. */
  topUp(account: AccountId, isLow: boolean): Promise<TopUpAnswer>
}
