// Plans and terms as the admin API takes and shows them.

import * as z from 'zod'
import { LIMIT_FIELDS, type Limits } from '../../accounts/limits.ts'
import { formatCredits } from '../../core/amount.ts'
import type { AccountTerms, ListedPlan } from '../../metering/plans/plan.ts'
import { Credits, CreditsText } from './fields.ts'

export const PlanName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits, "_" or "-", a letter first')
  .describe('Name of the plan')

/** A limit as its field; the bounds are far beyond what an account can use. */
const limit = (max: number, orElse = '') => {
  const words = `must be an integer from 1 to ${max}${orElse}`
  return z.int(words).min(1, words).max(max, words)
}

const LIMITS_TEXT = {
  rest_requests_per_second:
    'Requests a second of each key to `/platform`, to `/v1`, and to JSON-RPC once it is served, together; ' +
    'not to `POST /info`. Null: no limit',
  info_requests_per_second: 'Requests a second of each key to `POST /info`, and by `post` over sockets',
  stream_connections: 'Sockets that the account may have open at a time, over all its keys',
  stream_subscriptions:
    'Subscriptions that the account may have at a time, over all its sockets; a socket has at most 1,000',
  stream_messages_per_minute: 'Frames that each socket may send in a minute',
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

const DAYS_RULE = 'must be an integer from 1 to 3650, or null'
const PERIOD_TEXT =
  '`month`: its credits come each month, and what is left of the last ones expires; `once`: they come once'
const DAYS_TEXT = 'After so many days a plan of the period `once` ends with what it has left; null: never'
const CUSTOM_TEXT = 'Terms may be agreed per account'

export const SetPlan = z.strictObject({
  credits: Credits.optional().describe('Given for each period'),
  period: z.enum(['once', 'month'], 'must be "once" or "month"').optional().describe(PERIOD_TEXT),
  days: z.int(DAYS_RULE).min(1, DAYS_RULE).max(3650, DAYS_RULE).nullable().optional().describe(DAYS_TEXT),
  ...LIMIT_INPUTS,
  custom: z.boolean('must be true or false').optional().describe(CUSTOM_TEXT),
})
export type PlanChange = z.infer<typeof SetPlan>

/** What is agreed with one account; what is left out is its plan's. */
export const AgreedTerms = z
  .strictObject({ credits: Credits.optional().describe('Given for each period'), ...LIMIT_INPUTS })
  .transform(({ credits, ...limits }): AccountTerms => {
    return { ...limitsIn(limits), ...(credits === undefined ? {} : { micro: credits }) }
  })
  .describe('What is agreed with the account in place of its plan’s own, where the plan allows it (`custom`)')

export const LimitsView = z.object({
  rest_requests_per_second: z.int().nullable().describe(LIMITS_TEXT.rest_requests_per_second),
  info_requests_per_second: z.int().describe(LIMITS_TEXT.info_requests_per_second),
  stream_connections: z.int().describe(LIMITS_TEXT.stream_connections),
  stream_subscriptions: z.int().describe(LIMITS_TEXT.stream_subscriptions),
  stream_messages_per_minute: z.int().describe(LIMITS_TEXT.stream_messages_per_minute),
})

export const TermsView = LimitsView.extend({ credits: CreditsText.describe('Given for each period') })
  .partial()
  .meta({ id: 'Terms', description: 'What is agreed with the account in place of its plan’s own' })

export const PlanView = z
  .object({
    name: PlanName,
    credits: CreditsText.describe('Given for each period'),
    period: z.enum(['once', 'month']).describe(PERIOD_TEXT),
    days: z.int().nullable().describe(DAYS_TEXT),
    ...LimitsView.shape,
    custom: z.boolean().describe(CUSTOM_TEXT),
    accounts: z.int().describe('Accounts on the plan'),
  })
  .meta({ id: 'Plan' })

/** The limits that are said in these fields. */
export function limitsIn(fields: LimitFields): Partial<Limits> {
  const said = LIMIT_NAMES.filter((name) => fields[LIMIT_FIELDS[name]] !== undefined)
  return Object.fromEntries(said.map((name) => [name, fields[LIMIT_FIELDS[name]]]))
}

type WireLimits<Said> = {
  [Name in keyof Said as Name extends keyof Limits ? (typeof LIMIT_FIELDS)[Name] : never]: Said[Name]
}

/** Limits under their names on the wire. */
export function limitsView<Said extends Omit<AccountTerms, 'micro'>>(limits: Said): WireLimits<Said> {
  const said = LIMIT_NAMES.filter((name) => limits[name] !== undefined)
  return Object.fromEntries(said.map((name) => [LIMIT_FIELDS[name], limits[name]])) as WireLimits<Said>
}

/** Terms as the admin API shows them, null where nothing was agreed. */
export function termsView({ micro, ...limits }: AccountTerms): z.infer<typeof TermsView> | null {
  const shown = { ...(micro === undefined ? {} : { credits: formatCredits(micro) }), ...limitsView(limits) }
  return Object.keys(shown).length === 0 ? null : shown
}

/** A plan as the admin API shows it. */
export function planView({ name, terms, limits, custom, accounts }: ListedPlan): z.infer<typeof PlanView> {
  const { micro, period, days } = terms
  return { name, credits: formatCredits(micro), period, days, ...limitsView(limits), custom, accounts }
}
