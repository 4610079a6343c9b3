// Plans and terms as the admin API takes and shows them.

import * as z from 'zod'
import { formatCredits } from '../credit/amount.ts'
import type { ListedPlan, Terms } from '../credit/plans/plan.ts'
import type { Limits } from '../key/limits.ts'
import { Credits, CreditsText } from './fields.ts'

/** Name of a plan as operators choose it. */
export const PlanName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits, "_" or "-", a letter first')

/** A limit as its field; the bounds are far beyond what an account can use. */
const limit = (max: number) => {
  const words = `must be an integer from 1 to ${max}`
  return z.int(words).min(1, words).max(max, words)
}

const LIMIT_FIELDS = {
  requests_per_second: limit(100_000).nullable().optional(),
  info_requests_per_second: limit(1_000_000).optional(),
  stream_connections: limit(1_000_000).optional(),
  stream_subscriptions: limit(10_000_000).optional(),
  stream_messages_per_minute: limit(1_000_000).optional(),
}
type LimitFields = { readonly [name in keyof typeof LIMIT_FIELDS]?: z.infer<(typeof LIMIT_FIELDS)[name]> }

const FIELD_OF = {
  requestsPerSecond: 'requests_per_second',
  infoRequestsPerSecond: 'info_requests_per_second',
  streamConnections: 'stream_connections',
  streamSubscriptions: 'stream_subscriptions',
  streamMessagesPerMinute: 'stream_messages_per_minute',
} as const satisfies Record<keyof Limits, keyof LimitFields>
const LIMIT_NAMES = Object.keys(FIELD_OF) as (keyof Limits)[]

const days = 'must be an integer from 1 to 3650, or null'

/** A new plan, or what changes of one; of a plan that is there, what is left out stays. */
export const SetPlan = z.strictObject({
  credits: Credits.optional(),
  period: z.enum(['once', 'month'], 'must be "once" or "month"').optional(),
  days: z.int(days).min(1, days).max(3650, days).nullable().optional(),
  ...LIMIT_FIELDS,
  custom: z.boolean('must be true or false').optional(),
})
export type SetPlan = z.infer<typeof SetPlan>

/** What is agreed with one account; what is left out is its plan's. */
export const AgreedTerms = z.strictObject({ credits: Credits.optional(), ...LIMIT_FIELDS }).transform(
  ({ credits, ...limits }): Terms => ({
    ...limitsIn(limits),
    ...(credits === undefined ? {} : { micro: credits }),
  }),
)

/** Limits in an answer. */
export const ShownLimits = z.object({
  requests_per_second: z.int().nullable().describe('REST data API, JSON-RPC and platform, per key; null: no limit'),
  info_requests_per_second: z.int(),
  stream_connections: z.int().describe('Open sockets of an account'),
  stream_subscriptions: z.int().describe('Subscriptions of an account'),
  stream_messages_per_minute: z.int().describe('Frames that one socket may send'),
})

/** What was agreed with an account, in an answer. */
export const ShownTerms = ShownLimits.extend({ credits: CreditsText }).partial().meta({ id: 'Terms' })

export const ShownPlan = z
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

export const LIMITS_EXAMPLE = {
  requests_per_second: 4,
  info_requests_per_second: 1000,
  stream_connections: 100,
  stream_subscriptions: 1000,
  stream_messages_per_minute: 2000,
}
export const PLAN_EXAMPLE = {
  ...{ name: 'entry', credits: '10000', period: 'month', days: null },
  ...LIMITS_EXAMPLE,
  ...{ custom: false, accounts: 12 },
}

/** The limits that are said in these fields. */
export function limitsIn(fields: LimitFields): Partial<Limits> {
  const said = LIMIT_NAMES.filter((name) => fields[FIELD_OF[name]] !== undefined)
  return Object.fromEntries(said.map((name) => [name, fields[FIELD_OF[name]]]))
}

type Shown<Said> = { [Name in keyof Said as Name extends keyof Limits ? (typeof FIELD_OF)[Name] : never]: Said[Name] }

/** Limits under their names on the wire. */
export function shownLimits<Said extends Omit<Terms, 'micro'>>(limits: Said): Shown<Said> {
  const said = LIMIT_NAMES.filter((name) => limits[name] !== undefined)
  return Object.fromEntries(said.map((name) => [FIELD_OF[name], limits[name]])) as Shown<Said>
}

/** Terms as the admin API shows them, null where nothing was agreed. */
export function shownTerms({ micro, ...limits }: Terms): z.infer<typeof ShownTerms> | null {
  const shown = { ...(micro === undefined ? {} : { credits: formatCredits(micro) }), ...shownLimits(limits) }
  return Object.keys(shown).length === 0 ? null : shown
}

/** A plan as the admin API shows it. */
export function shownPlan({ name, terms, limits, custom, accounts }: ListedPlan): z.infer<typeof ShownPlan> {
  const { micro, period, days } = terms
  return { name, credits: formatCredits(micro), period, days, ...shownLimits(limits), custom, accounts }
}
