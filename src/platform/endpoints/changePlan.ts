// PUT /admin/accounts/{id}/plan.

import * as z from 'zod'
import { ACCOUNT_PARAMS, PERIOD_EXAMPLE, Period, shownPeriod } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, WARNINGS, warned } from '../fields.ts'
import { AgreedTerms, PlanName, ShownTerms, shownTerms } from '../plan-shapes.ts'

export const changePlan = defineEndpoint(
  {
    id: 'changePlan',
    method: 'put',
    path: '/admin/accounts/{id}/plan',
    summary: 'Put an account on a plan now',
    description:
      'What the old plan has left expires, the new one’s credits are there in full; the same plan with the same terms ' +
      'changes nothing. Limits follow within a minute.',
    door: 'admin',
    role: 'billing',
    params: ACCOUNT_PARAMS,
    body: {
      schema: z.strictObject({ plan: PlanName, terms: AgreedTerms.prefault({}) }),
      optional: false,
      example: { plan: 'enterprise', terms: { credits: 5000000, rest_requests_per_second: 200 } },
    },
    answers: {
      200: {
        description: 'The period that runs now',
        schema: z.object({
          account: AccountId,
          plan: PlanName,
          terms: ShownTerms.nullable(),
          period: Period,
          ...WARNINGS,
        }),
        example: { account: 'acme', plan: 'entry', terms: null, period: PERIOD_EXAMPLE },
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, body }, { accounts }) => {
    const { plan, terms: agreed } = body
    const changed = await accounts.changePlan(id, { plan, terms: agreed.terms })
    if (!changed.ok) return changed
    const now = { terms: shownTerms(agreed.terms), period: shownPeriod(changed.value) }
    return reply(200, { account: id, plan, ...now, ...warned(agreed.warnings) })
  },
)
