// Request and response fields of plans and terms.

import * as z from 'zod'
import { LIMIT_FIELDS, type Limits } from '../../accounts/limits.ts'
import { formatCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { AccountTerms, ListedPlan } from '../../metering/plans/plan.ts'
import { Credits, CreditsText } from './fields.ts'

export const PlanName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits, "_" or "-", starting with a letter')
  .describe('Name of the plan')

/** Field of a limit; the bounds are far above real use. */
const limit = (max: number, orElse = '') => {
  const message = `must be an integer from 1 to ${inGroups(max)}${orElse}`
  return z.int(message).min(1, message).max(max, message)
}

const LIMITS_TEXT = {
  rest_requests_per_second:
    'Maximum requests per second for each key to `/platform` and `/v1` combined, including JSON-RPC; null: no limit',
  info_requests_per_second: 'Maximum requests per second for each key to `POST /info`, including `post` over sockets',
  stream_connections: 'Maximum open sockets of the account, across all its keys',
  stream_subscriptions:
    'Maximum subscriptions of the account, across all its sockets; each socket can have at most 1,000',
  stream_messages_per_minute: 'Maximum frames per minute that each socket may send',
} as const satisfies Record<(typeof LIMIT_FIELDS)[keyof Limits], string>

const LIMIT_INPUTS = {
  rest_requests_per_second: limit(100_000, ', or null')
    .nullable()
    .optional()
    .describe(LIMITS_TEXT.rest_requests_per_second),
  info_requests_per_second: limit(1_000_000).optional().describe(LIMITS_TEXT.info_requests_per_second),
  stream_connections: limit(1_000_000).optional().describe(LIMITS_TEXT.stream_connections),
  stream_subscriptions: limit(10_000_000).optional().describe(LIMITS_TEXT.stream_subscriptions),
  stream_messages_per_minute: limit(1_000_000).optional().describe(LIMITS_TEXT.stream_messages_per_minute),
}
type LimitFields = { readonly [name in keyof typeof LIMIT_INPUTS]?: z.infer<(typeof LIMIT_INPUTS)[name]> }

const LIMIT_NAMES = Object.keys(LIMIT_FIELDS) as (keyof Limits)[]

const DAYS_RULE = 'must be an integer from 1 to 3,650, or null'
const PERIOD_TEXT = '`month`: credits are granted each month and unused ones expire; `once`: credits are granted once'
const DAYS_TEXT = 'Days after which the credits of a `once` plan expire; null: never'
const CUSTOM_TEXT = 'Whether terms can be agreed per account'

export const SetPlan = z.strictObject({
  credits: Credits.optional().describe('Credits per period'),
  period: z.enum(['once', 'month'], 'must be "once" or "month"').optional().describe(PERIOD_TEXT),
  days: z.int(DAYS_RULE).min(1, DAYS_RULE).max(3650, DAYS_RULE).nullable().optional().describe(DAYS_TEXT),
  ...LIMIT_INPUTS,
  custom: z.boolean('must be true or false').optional().describe(CUSTOM_TEXT),
})
export type PlanChange = z.infer<typeof SetPlan>

/** Terms of one account. The plan's values apply to missing fields. */
export const AgreedTerms = z
  .strictObject({ credits: Credits.optional().describe('Credits per period'), ...LIMIT_INPUTS })
  .transform(({ credits, ...limits }): AccountTerms => {
    return { ...limitsIn(limits), ...(credits === undefined ? {} : { micro: credits }) }
  })
  .describe('Account-specific terms that override the plan; only for plans with `custom`')

export const LimitsView = z.object({
  rest_requests_per_second: z.int().nullable().describe(LIMITS_TEXT.rest_requests_per_second),
  info_requests_per_second: z.int().describe(LIMITS_TEXT.info_requests_per_second),
  stream_connections: z.int().describe(LIMITS_TEXT.stream_connections),
  stream_subscriptions: z.int().describe(LIMITS_TEXT.stream_subscriptions),
  stream_messages_per_minute: z.int().describe(LIMITS_TEXT.stream_messages_per_minute),
})

export const TermsView = LimitsView.extend({ credits: CreditsText.describe('Credits per period') })
  .partial()
  .meta({ id: 'Terms', description: 'Account-specific terms that override the plan' })

export const PlanView = z
  .object({
    name: PlanName,
    credits: CreditsText.describe('Credits per period'),
    period: z.enum(['once', 'month']).describe(PERIOD_TEXT),
    days: z.int().nullable().describe(DAYS_TEXT),
    ...LimitsView.shape,
    custom: z.boolean().describe(CUSTOM_TEXT),
    accounts: z.int().describe('Number of accounts on the plan'),
  })
  .meta({ id: 'Plan' })

/** The limits that these fields set. */
export function limitsIn(fields: LimitFields): Partial<Limits> {
  const present = LIMIT_NAMES.filter((name) => fields[LIMIT_FIELDS[name]] !== undefined)
  return Object.fromEntries(present.map((name) => [name, fields[LIMIT_FIELDS[name]]]))
}

type WireLimits<Some> = {
  [Name in keyof Some as Name extends keyof Limits ? (typeof LIMIT_FIELDS)[Name] : never]: Some[Name]
}

/** Limits under their wire names. */
export function limitsView<Some extends Omit<AccountTerms, 'micro'>>(limits: Some): WireLimits<Some> {
  const present = LIMIT_NAMES.filter((name) => limits[name] !== undefined)
  return Object.fromEntries(present.map((name) => [LIMIT_FIELDS[name], limits[name]])) as WireLimits<Some>
}

/** Response view of terms; null if there are none. */
export function termsView({ micro, ...limits }: AccountTerms): z.infer<typeof TermsView> | null {
  const shown = { ...(micro === undefined ? {} : { credits: formatCredits(micro) }), ...limitsView(limits) }
  return Object.keys(shown).length === 0 ? null : shown
}

/** Response view of a plan. */
export function planView({ name, terms, limits, custom, accounts }: ListedPlan): z.infer<typeof PlanView> {
  const { micro, period, days } = terms
  return { name, credits: formatCredits(micro), period, days, ...limitsView(limits), custom, accounts }
}
