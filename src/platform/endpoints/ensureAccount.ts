// PUT /admin/accounts/{id}.

import * as z from 'zod'
import { ACCOUNT_PARAMS, SUMS, SUMS_EXAMPLE, shownSums } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, Credits, WARNINGS, warned } from '../fields.ts'
import { AgreedTerms, PlanName } from '../plan-shapes.ts'

const Ensured = z.object({
  account: AccountId,
  created: z.boolean().describe('False: it was there already'),
  ...SUMS,
  ...WARNINGS,
})

export const ensureAccount = defineEndpoint(
  {
    id: 'ensureAccount',
    method: 'put',
    path: '/admin/accounts/{id}',
    summary: 'Create an account; one that is there is left as it is',
    description:
      '`credits` take the place of the first period’s and do not expire. `terms` need a plan that allows them.',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    body: {
      schema: z.strictObject({
        plan: PlanName.default('trial'),
        terms: AgreedTerms.prefault({}),
        credits: Credits.optional().describe('In place of what the plan gives first; they do not expire'),
      }),
      optional: true,
      example: { plan: 'enterprise', terms: { credits: 5000000 } },
    },
    answers: {
      200: {
        description: 'Was there already, and is unchanged',
        schema: Ensured,
        example: { account: 'acme', created: false, ...SUMS_EXAMPLE },
      },
      201: { description: 'Created', schema: Ensured, example: { account: 'acme', created: true, ...SUMS_EXAMPLE } },
    },
    refusals: [],
  },
  async ({ params: { id }, body: { credits, plan, terms: agreed } }, { accounts }) => {
    const ensured = await accounts.ensure(id, { plan, terms: agreed.terms }, credits)
    if (!ensured.ok) return ensured
    const { created, account } = ensured.value
    return reply(created ? 201 : 200, { account: id, created, ...shownSums(account), ...warned(agreed.warnings) })
  },
)
