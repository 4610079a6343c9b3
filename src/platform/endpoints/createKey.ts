// POST /admin/keys.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, Credits, WARNINGS, warned } from '../fields.ts'
import { ISSUED_EXAMPLE, IssuedKey, KEY_ORDER, pastExpiry, unsureOf } from '../key-shapes.ts'
import { AgreedTerms, PlanName } from '../plan-shapes.ts'

const CreateKey = z
  .strictObject({
    account: AccountId.optional().describe('The account that it is for; left out: a new one'),
    credits: Credits.optional().describe('In place of what the plan gives first; they do not expire'),
    plan: PlanName.optional(),
    terms: AgreedTerms.optional(),
    ...KEY_ORDER,
  })
  .check((context) => {
    const { account, credits, plan, terms } = context.value
    const only = 'only for a new account: leave "account" out, or grant to the account'
    for (const [field, value] of Object.entries({ credits, plan, terms })) {
      if (account !== undefined && value !== undefined) {
        context.issues.push({ code: 'custom', message: only, path: [field], input: undefined })
      }
    }
  })

export const createKey = defineEndpoint(
  {
    id: 'createKey',
    method: 'post',
    path: '/admin/keys',
    summary: 'Issue a key, for an account or with a new one',
    description: '`plan`, `terms` and `credits` are of the new account, where `account` is left out.',
    door: 'admin',
    body: {
      schema: CreateKey,
      optional: true,
      example: { account: 'acme', label: 'bot', products: ['info', 'stream'] },
    },
    answers: {
      201: {
        description: 'The key, shown this once',
        schema: z.object({ ...IssuedKey.shape, ...WARNINGS }),
        example: ISSUED_EXAMPLE,
      },
    },
    refusals: [],
  },
  async ({ body: { terms: agreed, ...order } }, { keys, now, isProxied }) => {
    const past = pastExpiry(order.expires, now())
    if (past !== null) return err(past)
    const issued = await keys.create({ ...order, terms: agreed?.terms })
    const warnings = [...(agreed?.warnings ?? []), ...unsureOf(order.ranges, isProxied)]
    if (order.credits === 0) warnings.push('credits: 0: the account can pay for nothing until it is granted some')
    return issued.ok ? reply(201, { ...issued.value, ...warned(warnings) }) : issued
  },
)
