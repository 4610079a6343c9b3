// What the admin API takes, as schemas. Law: an unknown field or a wrong value is refused by its name, and the value
// itself is never repeated.

import * as z from 'zod'
import { parseRange, RANGES_MAX } from '../key/address-range.ts'
import { PRODUCTS } from '../key/identity.ts'
import { AccountId, Credits } from './fields.ts'
import { AgreedTerms, PlanName } from './plan-requests.ts'

const Label = z.string().max(100, 'must be at most 100 characters')
const KeyProducts = z
  .array(z.enum(PRODUCTS, `must be among ${PRODUCTS.join(', ')}`))
  .min(1, 'must name at least one product')
  .max(PRODUCTS.length)
/** Ranges of addresses; an entry that is none is named by its place. */
const Ranges = z
  .array(
    z.string().transform((text, context) => {
      const range = parseRange(text)
      if (range.ok) return range.value
      context.addIssue({ code: 'custom', message: range.error })
      return z.NEVER
    }),
  )
  .min(1, 'must name at least one range')
  .max(RANGES_MAX, `must be at most ${RANGES_MAX} ranges`)
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
    ranges: Ranges.optional(),
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

const IdempotencyKey = z.string('is required').regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters')

/** How long the old key still works; 0 revokes it at once. */
export const RotateKey = z.strictObject({
  grace_seconds: z.int(grace).min(0, grace).max(GRACE_MAX_SECONDS, grace).default(86_400),
  idempotency_key: IdempotencyKey.optional(),
})

/** Fields that are left out stay; `null` takes an expiry, a cap or the ranges away. */
export const ChangeKey = z.strictObject({
  label: Label.optional(),
  products: KeyProducts.optional(),
  expires: Expiry.nullable().optional(),
  cap: Credits.nullable().optional(),
  ranges: Ranges.nullable().optional(),
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
  idempotency_key: IdempotencyKey,
})
