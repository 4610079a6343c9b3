// Accounts as the operator's API names and shows them.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import type { AccountState } from '../credit/account-state.ts'
import { formatCredits } from '../credit/amount.ts'
import type { PlanState } from '../credit/plans/plan-period.ts'
import { AccountId, CreditsText, UnixMs } from './fields.ts'

/** Of every path below `/admin/accounts/{id}`. */
export const ACCOUNT_PARAMS = { id: AccountId }

export const SUMS = {
  balance: CreditsText.describe('What may still be spent, leased credits included'),
  spent: CreditsText,
  granted: CreditsText.describe('Given and not expired'),
}
export const SUMS_EXAMPLE = { balance: '9999.87', spent: '0.13', granted: '10000' }

export const Period = z
  .object({
    since: UnixMs,
    until: UnixMs.nullable().describe('Null: it does not end, or the trial is over'),
    credits: CreditsText.describe('Given for this period'),
    renews_with: CreditsText.describe('Given for each later one'),
  })
  .meta({ id: 'Period' })
export const PERIOD_EXAMPLE = { since: 1790000000000, until: 1792540800000, credits: '10000', renews_with: '10000' }

export const NO_ACCOUNT: Failure = { kind: 'not_found', what: 'This account' }

/** The sums of an account as answers show them. */
export function shownSums(account: AccountState) {
  return {
    balance: formatCredits(account.available + account.held),
    spent: formatCredits(account.spent),
    granted: formatCredits(account.granted),
  }
}

/** The period of an account's plan as answers show it. */
export function shownPeriod({ sinceMs, untilMs, micro, everyMicro }: PlanState): z.infer<typeof Period> {
  return { since: sinceMs, until: untilMs, credits: formatCredits(micro), renews_with: formatCredits(everyMicro) }
}
