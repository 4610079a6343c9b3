// Body of an alert: what a webhook gets, and what an e-mail says.

import * as z from 'zod'
import { formatCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { AccountId } from '../../core/ids.ts'
import { ALERT_TYPES, type AlertType } from '../webhooks/webhook.ts'
import { AlertCondition, type AlertRule } from './alert-rule.ts'
import { errorsOf } from './alert-state.ts'
import type { WindowSums } from './call-minutes.ts'

const FIELDS = {
  id: z.string().describe('Event id, identical in every attempt: `webhook-id`'),
  account: z.string().describe('Account name'),
  created: z.int().describe('Time of the event, Unix milliseconds'),
  rule: z.string().describe('Rule id, `alr_…`'),
  name: z.string().describe('Name of the rule'),
  condition: AlertCondition.describe('Condition of the rule'),
  message: z.string().describe('Measured values, as a sentence'),
}
export const AlertFiredEvent = z.object({ ...FIELDS, type: z.literal('alert.fired') }).meta({ id: 'AlertFiredEvent' })
export const AlertResolvedEvent = z
  .object({ ...FIELDS, type: z.literal('alert.resolved') })
  .meta({ id: 'AlertResolvedEvent' })
export const AlertTestEvent = z.object({ ...FIELDS, type: z.literal('alert.test') }).meta({ id: 'AlertTestEvent' })

export type AlertBody = z.infer<typeof AlertFiredEvent | typeof AlertResolvedEvent | typeof AlertTestEvent>

/** Fields of a body that e-mails need. A later version may add types of conditions. */
export const AlertText = z.object({ ...FIELDS, type: z.enum(ALERT_TYPES) }).omit({ condition: true })
export type AlertText = z.infer<typeof AlertText>

export function alertBody(event: {
  readonly id: string
  readonly type: AlertType
  readonly account: AccountId
  readonly createdMs: number
  readonly rule: string
  readonly of: Pick<AlertRule, 'name' | 'condition'>
  readonly message: string
}): string {
  const { id, type, account, createdMs, rule, of, message } = event
  const { name, condition } = of
  return JSON.stringify({ id, type, account, created: createdMs, rule, name, condition, message })
}

export const TEST_MESSAGE = 'This is a test. Nothing is wrong.'

export const balanceMessage = (leftMicro: number, threshold: string) =>
  `${creditsText(leftMicro)} credits are left; the alert is set to ${threshold.endsWith('%') ? threshold : `${threshold} credits`}.`

export const forecastMessage = (endMs: number) =>
  Number.isFinite(endMs)
    ? `At the current rate, the credits end on ${new Date(endMs).toISOString().slice(0, 10)}.`
    : 'At the current rate, the credits do not end.'

export function callsMessage(
  condition: Extract<AlertCondition, { readonly minutes: number }>,
  sums: WindowSums,
): string {
  const ofKey = condition.key === null ? '' : ` of the key ${condition.key.slice(0, 12)}…`
  const time = `in ${condition.minutes} minutes`
  switch (condition.type) {
    case 'errors': {
      const errors = errorsOf(condition.statuses, sums)
      const share = sums.calls === 0 ? '' : ` (${((errors * 100) / sums.calls).toFixed(1)}%)`
      const status = condition.statuses === 'any' ? '4xx or 5xx' : condition.statuses
      return `${inGroups(errors)} of ${inGroups(sums.calls)} calls${ofKey} ${time} had status ${status}${share}.`
    }
    case 'rate_limited':
      return `${inGroups(sums.limited)} calls${ofKey} ${time} were rejected with 429.`
    case 'limit_use':
      return `Requests${ofKey} ${time} used ${(sums.use / 10).toFixed(1)}% of their limit on average.`
  }
}

/** Whole credits; fractions only of the last credit. */
function creditsText(micro: number): string {
  return micro < 1_000_000 ? formatCredits(micro) : inGroups(Math.floor(micro / 1_000_000))
}
