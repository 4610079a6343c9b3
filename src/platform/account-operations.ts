// The operator's operations on accounts.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import { ChangePlan, EnsureAccount, GrantCredits } from './admin-requests.ts'
import { AccountId, CreditsText, UnixMs } from './fields.ts'
import { KEY_EXAMPLE, ShownKey } from './key-shapes.ts'
import { ShownTerms } from './plan-requests.ts'

const SUMS = {
  balance: CreditsText.describe('What may still be spent, leased credits included'),
  spent: CreditsText,
  granted: CreditsText.describe('Given and not expired'),
}
const SUMS_EXAMPLE = { balance: '9999.87', spent: '0.13', granted: '10000' }

const Period = z
  .object({
    since: UnixMs,
    until: UnixMs.nullable().describe('Null: it does not end, or the trial is over'),
    credits: CreditsText.describe('Given for this period'),
    renews_with: CreditsText.describe('Given for each later one'),
  })
  .meta({ id: 'Period' })
const PERIOD_EXAMPLE = { since: 1790000000000, until: 1792540800000, credits: '10000', renews_with: '10000' }

const door = 'admin'
const params = { id: AccountId }

export const ENSURE_ACCOUNT = {
  id: 'ensureAccount',
  method: 'put',
  path: '/admin/accounts/{id}',
  summary: 'Create an account; one that is there is left as it is',
  description:
    '`credits` take the place of the first period’s and do not expire. `terms` need a plan that allows them.',
  door,
  params,
  body: { schema: EnsureAccount, optional: true, example: { plan: 'enterprise', terms: { credits: 5000000 } } },
  answers: Object.fromEntries(
    [true, false].map((created) => [
      created ? 201 : 200,
      {
        description: created ? 'Created' : 'Was there already, and is unchanged',
        schema: z.object({ account: z.string(), created: z.boolean(), ...SUMS }),
        example: { account: 'acme', created, ...SUMS_EXAMPLE },
      },
    ]),
  ),
  refusals: [],
} as const satisfies Operation

export const SHOW_ACCOUNT = {
  id: 'showAccount',
  method: 'get',
  path: '/admin/accounts/{id}',
  summary: 'An account with its plan, its sums and its keys',
  door,
  params,
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
} as const satisfies Operation

export const CHANGE_PLAN = {
  id: 'changePlan',
  method: 'put',
  path: '/admin/accounts/{id}/plan',
  summary: 'Put an account on a plan now',
  description:
    'What the old plan has left expires, the new one’s credits are there in full; the same plan with the same terms ' +
    'changes nothing. Limits follow within a minute.',
  door,
  params,
  body: {
    schema: ChangePlan,
    optional: false,
    example: { plan: 'enterprise', terms: { credits: 5000000, requests_per_second: 200 } },
  },
  answers: {
    200: {
      description: 'The period that runs now',
      schema: z.object({ account: z.string(), plan: z.string(), terms: ShownTerms.nullable(), period: Period }),
      example: { account: 'acme', plan: 'entry', terms: null, period: PERIOD_EXAMPLE },
    },
  },
  refusals: [404],
} as const satisfies Operation

export const GRANT_CREDITS = {
  id: 'grantCredits',
  method: 'post',
  path: '/admin/accounts/{id}/grants',
  summary: 'Add credits that do not expire, once per idempotency key',
  door,
  params,
  body: { schema: GrantCredits, optional: false, example: { credits: '500.25', idempotency_key: 'invoice-4711' } },
  answers: {
    200: {
      description: 'The sums after it',
      schema: z.object({ account: z.string(), ...SUMS }),
      example: { account: 'acme', ...SUMS_EXAMPLE },
    },
  },
  refusals: [404, 409],
} as const satisfies Operation
