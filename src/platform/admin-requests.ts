// What the admin API takes, as schemas. Law: an unknown field or a wrong value is refused by its name, and the value
// itself is never repeated.

import * as z from 'zod'
import { PRODUCTS } from '../key/identity.ts'
import { AccountId, Credits } from './fields.ts'
import { AgreedTerms, PlanName } from './plan-requests.ts'

const Label = z.string().max(100, 'must be at most 100 characters')
const KeyProducts = z
  .array(z.enum(PRODUCTS, `must be among ${PRODUCTS.join(', ')}`))
  .min(1, 'must name at least one product')
  .max(PRODUCTS.length)
const Expiry = z.int('must be a time in Unix ms').positive('must be a time in Unix ms')

export const CreateKey = z
  .strictObject({
    account: AccountId.optional(),
    credits: Credits.optional(),
    plan: PlanName.optional(),
    terms: AgreedTerms.optional(),
    label: Label.default(''),
    kind: z.enum(['api', 'service'], 'must be "api" or "service"').default('api'),
    products: KeyProducts.optional(),
    expires: Expiry.optional(),
    cap: Credits.optional(),
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

const GRACE_MAX_SECONDS = 30 * 86_400
const grace = `must be whole seconds from 0 to ${GRACE_MAX_SECONDS} (30 days)`

/** How long the old key still works; 0 revokes it at once. */
export const RotateKey = z.strictObject({
  grace_seconds: z.int(grace).min(0, grace).max(GRACE_MAX_SECONDS, grace).default(86_400),
})

/** Fields that are left out stay; `null` takes an expiry or a cap away. */
export const ChangeKey = z.strictObject({
  label: Label.optional(),
  products: KeyProducts.optional(),
  expires: Expiry.nullable().optional(),
  cap: Credits.nullable().optional(),
})

/** `credits` are given by number, once and for good, in place of the first period's. */
export const EnsureAccount = z.strictObject({
  plan: PlanName.default('trial'),
  terms: AgreedTerms.default({}),
  credits: Credits.optional(),
})

export const ChangePlan = z.strictObject({ plan: PlanName, terms: AgreedTerms.default({}) })

export const GrantCredits = z.strictObject({
  credits: Credits,
  idempotency_key: z.string('is required').regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters'),
})
