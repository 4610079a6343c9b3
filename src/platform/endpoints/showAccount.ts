// GET /admin/accounts/{id}.

import * as z from 'zod'
import { formatCredits } from '../../credit/amount.ts'
import {
  ACCOUNT_PARAMS,
  PERIOD_EXAMPLE,
  Period,
  SUMS,
  SUMS_EXAMPLE,
  shownPeriod,
  shownSums,
} from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, CreditsText, UnixMs } from '../fields.ts'
import { COUNTED_EXAMPLE, CountedKey, countedKey } from '../key-shapes.ts'
import { PlanName, ShownTerms, shownTerms } from '../plan-shapes.ts'

const KEYS_SHOWN = 1_000

export const showAccount = defineEndpoint(
  {
    id: 'showAccount',
    method: 'get',
    path: '/admin/accounts/{id}',
    summary: 'An account with its plan, its sums and its keys',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    answers: {
      200: {
        description: 'The account',
        schema: z.object({
          account: AccountId,
          plan: PlanName,
          terms: ShownTerms.nullable().describe('Null: those of its plan'),
          created: UnixMs.describe('When it was made, Unix milliseconds'),
          ...SUMS,
          held: CreditsText.describe('What of the balance is lent to isolates that serve calls, and not yet settled'),
          written_off: CreditsText.describe(
            'Served, and reported only when the balance was gone: never charged, and no part of `spent`',
          ),
          period: Period.nullable().describe('Null: it was made before plans had periods'),
          keys: z.array(CountedKey).describe('Its keys, newest first, at most 1,000'),
        }),
        example: {
          account: 'acme',
          plan: 'entry',
          terms: null,
          created: 1790000000000,
          ...SUMS_EXAMPLE,
          held: '0',
          written_off: '0',
          period: PERIOD_EXAMPLE,
          keys: [COUNTED_EXAMPLE],
        },
      },
    },
    refusals: [404],
  },
  async ({ params: { id } }, { accounts, keys }) => {
    const shown = await accounts.account(id)
    if (!shown.ok) return shown
    const { plan, terms, created, sums, period } = shown.value
    const listed = await keys.list(id, KEYS_SHOWN)
    return reply(200, {
      account: id,
      plan,
      terms: shownTerms(terms),
      created,
      ...shownSums(sums),
      held: formatCredits(sums.held),
      written_off: formatCredits(sums.writtenOff),
      period: period === null ? null : shownPeriod(period),
      keys: listed.map(countedKey),
    })
  },
)
