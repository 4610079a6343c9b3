// GET /admin/accounts.

import * as z from 'zod'
import { leftOf } from '../../credit/account-state.ts'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, CreditsText, UnixMs } from '../fields.ts'
import { Limit, SearchText } from '../page-fields.ts'
import { PlanName } from '../plan-shapes.ts'

const Listed = z
  .object({
    account: AccountId,
    plan: PlanName,
    created: UnixMs.describe('When it was made, Unix milliseconds'),
    keys: z.int().describe('Keys of it that work'),
    last_used: UnixMs.nullable().describe(
      'Start of the last hour in which one was charged, as far as copied; null: never',
    ),
    balance: CreditsText.nullable().describe('What it may still spend; null: its meter did not answer'),
  })
  .meta({ id: 'ListedAccount' })

export const listAccounts = defineEndpoint(
  {
    id: 'listAccounts',
    method: 'get',
    path: '/admin/accounts',
    summary: 'Accounts by name, with their plan and balance',
    description: 'Where `next` is not null there are more: ask again with `after` = `next`.',
    door: 'admin',
    query: z.strictObject({
      search: SearchText.optional().describe('Part of the name, in any case'),
      plan: PlanName.optional().describe('On this plan alone'),
      after: AccountId.optional().describe('`next` of the page before'),
      limit: Limit,
    }),
    answers: {
      200: {
        description: 'A page of accounts',
        schema: z.object({
          accounts: z.array(Listed).describe('By name'),
          next: AccountId.nullable().describe('Where the next page begins; null: this is the last one'),
        }),
        example: {
          accounts: [
            {
              account: 'acme',
              plan: 'entry',
              created: 1790000000000,
              keys: 2,
              last_used: 1790002800000,
              balance: '9999.87',
            },
          ],
          next: null,
        },
      },
    },
    refusals: [],
  },
  async ({ query: { limit, ...filter } }, { business, meterOf, now }) => {
    const found = await business.accounts(filter, limit + 1, now())
    const page = found.slice(0, limit)
    const sums = await Promise.allSettled(page.map(({ account }) => meterOf(account).balance()))
    const accounts = page.map((row, i) => {
      const answer = sums[i]
      return { ...row, balance: answer?.status === 'fulfilled' ? formatCredits(leftOf(answer.value)) : null }
    })
    return reply(200, { accounts, next: found.length > limit ? page.at(-1)!.account : null })
  },
)
