// Accounts as the operator's API names and shows them.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import type { AccountState } from '../credit/account-state.ts'
import { formatCredits } from '../credit/amount.ts'
import type { PlanState } from '../credit/plans/plan-period.ts'
import { AccountId, CreditsText, UnixMs } from './fields.ts'

/** Of every path below `/admin/accounts/{id}`. */
export const ACCOUNT_PARAMS = { id: AccountId }

/** The words of an account's credits, each for one sum; `held` and `written_off` stand with them in `showAccount`. */
export const SUMS = {
  balance: CreditsText.describe('Credits that the account may still spend'),
  spent: CreditsText.describe('Credits that the account’s calls, minutes and rows cost, since it was made'),
  granted: CreditsText.describe(
    'Credits given by plans and grants since it was made, without what expired: balance and spent',
  ),
}
export const SUMS_EXAMPLE = { balance: '9999.87', spent: '0.13', granted: '10000' }

export const Period = z
  .object({
    since: UnixMs.describe('When it began, Unix milliseconds'),
    until: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: it does not, or the trial is over'),
    credits: CreditsText.describe('What the plan gave for it'),
    renews_with: CreditsText.describe('What the plan gives for each later one'),
  })
  .meta({ id: 'Period', description: 'The plan’s period that runs now' })
export const PERIOD_EXAMPLE = { since: 1790000000000, until: 1792540800000, credits: '10000', renews_with: '10000' }

/** `meant`: the account that is probably meant. */
export function noAccount(id: string, meant?: string): Failure {
  const question = meant === undefined ? '.' : `; did you mean "${meant}"?`
  return { kind: 'not_found', what: 'This account', hint: `The account "${id}" does not exist${question}` }
}

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
