// PUT /admin/accounts/{id}.

import * as z from 'zod'
import { ACCOUNT_PARAMS, SUMS, SUMS_EXAMPLE, shownSums } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { Credits } from '../fields.ts'
import { AgreedTerms, PlanName } from '../plan-shapes.ts'

const Ensured = z.object({ account: z.string(), created: z.boolean(), ...SUMS })

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
        terms: AgreedTerms.default({}),
        credits: Credits.optional(),
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
  async ({ params: { id }, body: { credits, ...choice } }, { accounts }) => {
    const ensured = await accounts.ensure(id, choice, credits)
    if (!ensured.ok) return ensured
    const { created, account } = ensured.value
    return reply(created ? 201 : 200, { account: id, created, ...shownSums(account) })
  },
)
