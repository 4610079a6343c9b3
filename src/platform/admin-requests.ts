// What the admin API takes, as schemas. Law: an unknown field or a wrong value is refused by its name, and the value
// itself is never repeated.

import * as z from 'zod'
import { parseCredits } from '../credit/amount.ts'
import { PLAN_NAMES } from '../credit/plan.ts'
import { PRODUCTS } from '../key/identity.ts'

/** Credits as a number or text, parsed to micro-credits exactly. */
const Credits = z
  .union([z.number(), z.string()], 'must be a number of credits such as 100 or "0.13"')
  .transform((credits, context) => {
    const micro = parseCredits(credits)
    if (micro.ok) return micro.value
    context.addIssue({ code: 'custom', message: micro.error })
    return z.NEVER
  })

/** Name of an account as operators choose it. */
export const AccountId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, "_" or "-"')
const PlanName = z.enum(PLAN_NAMES, `must be one of ${PLAN_NAMES.join(', ')}`)

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
    label: Label.default(''),
    kind: z.enum(['api', 'service'], 'must be "api" or "service"').default('api'),
    products: KeyProducts.optional(),
    expires: Expiry.optional(),
    cap: Credits.optional(),
  })
  .check((context) => {
    const { account, credits, plan } = context.value
    const only = 'only for a new account: leave "account" out, or grant to the account'
    for (const [field, value] of Object.entries({ credits, plan })) {
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

export const EnsureAccount = z.strictObject({ credits: Credits.optional(), plan: PlanName.default('trial') })

/** `credits` a month for a plan whose credits are agreed; left out, the plan's own. */
export const ChangePlan = z.strictObject({ plan: PlanName, credits: Credits.optional() })

export const GrantCredits = z.strictObject({
  credits: Credits,
  idempotency_key: z.string('is required').regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters'),
})
