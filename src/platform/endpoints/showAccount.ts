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
import { CreditsText, UnixMs } from '../fields.ts'
import { KEY_EXAMPLE, ShownKey, shownKey } from '../key-shapes.ts'
import { ShownTerms, shownTerms } from '../plan-shapes.ts'

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
          account: z.string(),
          plan: z.string(),
          terms: ShownTerms.nullable().describe('What was agreed in place of the plan’s own terms'),
          created: UnixMs,
          ...SUMS,
          held: CreditsText.describe('In leases, not yet reported as spent'),
          written_off: CreditsText.describe('Spent and reported when the balance was gone'),
          period: Period.nullable(),
          keys: z.array(ShownKey),
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
          keys: [KEY_EXAMPLE],
        },
      },
    },
    refusals: [404],
  },
  async ({ params: { id } }, { accounts }) => {
    const shown = await accounts.account(id)
    if (!shown.ok) return shown
    const { plan, terms, created, sums, period, keys } = shown.value
    return reply(200, {
      account: id,
      plan,
      terms: shownTerms(terms),
      created,
      ...shownSums(sums),
      held: formatCredits(sums.held),
      written_off: formatCredits(sums.writtenOff),
      period: period === null ? null : shownPeriod(period),
      keys: keys.map(shownKey),
    })
  },
)
