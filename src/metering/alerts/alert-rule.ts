// Rules of alerts: conditions, channels and how often an alert is repeated.

import * as z from 'zod'
import { inGroups } from '../../core/digit-groups.ts'
import { parseThreshold } from '../webhooks/low-balance.ts'

export const RULES_MAX = 20
export const ADDRESSES_MAX = 10
/** Keys that the rules of an account may name. The meter counts the calls of each apart. */
export const RULE_KEYS_MAX = 5
const WINDOW_MINUTES = [5, 15, 60] as const

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${inGroups(max)}`
  return z.int(message).min(min, message).max(max, message)
}
const WINDOW_MESSAGE = 'must be 5, 15 or 60'
const Window = z
  .union(
    WINDOW_MINUTES.map((minutes) => z.literal(minutes, WINDOW_MESSAGE)),
    WINDOW_MESSAGE,
  )
  .describe('Time over which calls are counted, in minutes')
const Percent = whole(1, 99)
const Key = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a key in hex; never the key')
  .nullable()
  .default(null)
  .describe('SHA-256 of the key whose calls count, in hex; null: all keys of the account')

const CREDITS_BELOW = {
  type: z.literal('credits_below').describe('The balance falls to a threshold'),
  threshold: z
    .string('must be a string such as "20%" or "1000"')
    .superRefine((name, context) => {
      const parsed = parseThreshold(name)
      if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.error })
    })
    .describe('Number of credits, or a percentage of the highest balance in the plan’s period'),
}
const CREDITS_END = {
  type: z.literal('credits_end').describe('The credits end soon'),
  days: whole(1, 90).describe('Number of days within which the credits end at the average rate of the last week'),
}
const ERRORS = {
  type: z.literal('errors').describe('Many calls fail'),
  statuses: z
    .enum(['4xx', '5xx', 'any'], 'must be "4xx", "5xx" or "any"')
    .describe('Statuses that count as errors; `any`: both classes'),
  percent: Percent.describe('Percentage of calls with an error above which the alert fires'),
  calls: whole(1, 1_000_000).describe('Minimum number of calls in the window'),
  minutes: Window,
  key: Key,
}
const RATE_LIMITED = {
  type: z.literal('rate_limited').describe('Calls are rejected with 429'),
  calls: whole(1, 1_000_000).describe('Number of calls rejected with 429 from which the alert fires'),
  minutes: Window,
  key: Key,
}
const LIMIT_USE = {
  type: z.literal('limit_use').describe('A request limit is nearly used'),
  percent: Percent.describe('Average use of a request limit in the window above which the alert fires, in percent'),
  minutes: Window,
  key: Key,
}

/** When an alert fires, in responses. */
export const AlertCondition = z
  .discriminatedUnion('type', [
    z.object(CREDITS_BELOW),
    z.object(CREDITS_END),
    z.object(ERRORS),
    z.object(RATE_LIMITED),
    z.object(LIMIT_USE),
  ])
  .meta({ id: 'AlertCondition' })
export type AlertCondition = z.infer<typeof AlertCondition>

/** The same in requests. */
export const AlertConditionInput = z.discriminatedUnion(
  'type',
  [
    z.strictObject(CREDITS_BELOW),
    z.strictObject(CREDITS_END),
    z.strictObject(ERRORS),
    z.strictObject(RATE_LIMITED),
    z.strictObject(LIMIT_USE),
  ],
  'must have a "type": credits_below, credits_end, errors, rate_limited or limit_use',
)

/** The key whose calls the condition counts; empty: all keys. Null: the condition counts no calls. */
export function countedKey(condition: AlertCondition): string | null {
  return 'key' in condition ? (condition.key ?? '') : null
}

/** A rule as an owner sets it. */
export interface AlertRule {
  readonly name: string
  readonly enabled: boolean
  readonly condition: AlertCondition
  /** Whether the account's webhook gets the alerts. */
  readonly webhook: boolean
  /** Ids of addresses. */
  readonly addresses: readonly string[]
  /** While the condition persists, the alert is repeated after this time. */
  readonly cooldownMinutes: number
}

/** Keys that these rules name. */
export function ruleKeys(rules: readonly AlertRule[]): readonly string[] {
  return [...new Set(rules.flatMap(({ condition }) => countedKey(condition) || []))]
}
