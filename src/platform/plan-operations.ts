// The operator's operations on plans.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import { AccountId, CreditsText } from './fields.ts'
import { PlanName, SetPlan, ShownLimits } from './plan-requests.ts'

const ShownPlan = z
  .object({
    name: z.string(),
    credits: CreditsText.describe('Given for each period'),
    period: z.enum(['once', 'month']),
    days: z.int().nullable().describe('After which a plan of the period `once` ends'),
    ...ShownLimits.shape,
    custom: z.boolean().describe('Terms may be agreed per account'),
    accounts: z.int().describe('Accounts on the plan'),
  })
  .meta({ id: 'Plan' })

const EXAMPLE = {
  name: 'entry',
  credits: '10000',
  period: 'month',
  days: null,
  requests_per_second: 4,
  info_requests_per_second: 1000,
  stream_connections: 100,
  stream_subscriptions: 1000,
  stream_messages_per_minute: 2000,
  custom: false,
  accounts: 12,
} as const

const door = 'admin'
const params = { name: PlanName }

export const LIST_PLANS = {
  id: 'listPlans',
  method: 'get',
  path: '/admin/plans',
  summary: 'All plans, by name',
  door,
  answers: {
    200: { description: 'The plans', schema: z.object({ plans: z.array(ShownPlan) }), example: { plans: [EXAMPLE] } },
  },
  refusals: [],
} as const satisfies Operation

export const SET_PLAN = {
  id: 'setPlan',
  method: 'put',
  path: '/admin/plans/{name}',
  summary: 'Add a plan, or change the fields that are sent',
  description:
    'A new plan needs `credits` and `requests_per_second`. New accounts have a change at once, those on the plan as ' +
    '`applyPlan` tells them.',
  door,
  params,
  body: { schema: SetPlan, optional: false, example: { credits: 12000, requests_per_second: 8 } },
  answers: { 200: { description: 'The plan as it is now', schema: ShownPlan, example: EXAMPLE } },
  refusals: [409],
} as const satisfies Operation

export const REMOVE_PLAN = {
  id: 'removePlan',
  method: 'delete',
  path: '/admin/plans/{name}',
  summary: 'Remove a plan that no account is on',
  door,
  params,
  answers: {
    200: { description: 'Removed', schema: z.object({ removed: z.string() }), example: { removed: 'entry' } },
  },
  refusals: [404, 409],
} as const satisfies Operation

export const APPLY_PLAN = {
  id: 'applyPlan',
  method: 'post',
  path: '/admin/plans/{name}/apply',
  summary: 'Tell accounts on a plan what it gives now',
  description:
    'Ten accounts a call: credits from their next period on, limits at once. Call again with `after` = `next` until ' +
    '`next` is null. Again is the same.',
  door,
  params,
  query: z.strictObject({ after: AccountId.optional() }),
  answers: {
    200: {
      description: 'How far it came',
      schema: z.object({ told: z.int(), next: z.string().nullable() }),
      example: { told: 10, next: 'acct_7YwRzDGpQk2m' },
    },
  },
  refusals: [404],
} as const satisfies Operation
