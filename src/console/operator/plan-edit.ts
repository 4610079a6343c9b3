// Changes of a plan by its form. Invariants (test/console/plan-edit.test.ts): a form that nobody touched changes nothing;
// only fields that differ from the plan are sent; "no limit" is null on the wire and never a number.

import type { Responses } from '../responses.ts'
import { groupedText } from '../ui/format.ts'
import { labelOf } from '../ui/strings.ts'
import * as planStrings from './plan-strings.ts'

export type Plan = Responses['listPlans']['plans'][number]

export const LIMITS = [
  'rest_requests_per_second',
  'info_requests_per_second',
  'stream_connections',
  'stream_subscriptions',
  'stream_messages_per_minute',
] as const
const NUMBERS = ['days', ...LIMITS] as const
const FIELDS = ['credits', 'period', ...NUMBERS, 'custom'] as const
type PlanField = (typeof FIELDS)[number]

/** Text of each field as typed; null: no limit. Empty: left out. */
export type PlanForm = Readonly<Record<PlanField, string | null>>

const NEW_PLAN: PlanForm = {
  credits: '',
  period: 'month',
  days: null,
  rest_requests_per_second: '',
  info_requests_per_second: '',
  stream_connections: '',
  stream_subscriptions: '',
  stream_messages_per_minute: '',
  custom: 'false',
}

/** Current values; those of a new plan if there is none. */
export function formOf(plan: Plan | null): PlanForm {
  if (plan === null) return NEW_PLAN
  const text = (field: PlanField) => (plan[field] === null ? null : String(plan[field]))
  return Object.fromEntries(FIELDS.map((field) => [field, text(field)])) as PlanForm
}

type Value = string | number | boolean | null
export type PlanChange = Readonly<Partial<Record<PlanField, Value>>>

/** The fields to send. */
export function changeOf(plan: Plan | null, form: PlanForm): PlanChange {
  const entries = FIELDS.flatMap((field): [PlanField, Value][] => {
    if (field === 'days' && form.period === 'month') return []
    const value = wireValue(field, form[field])
    return value === undefined || (plan !== null && value === plan[field]) ? [] : [[field, value]]
  })
  return Object.fromEntries(entries)
}

/** Undefined: left out. */
function wireValue(field: PlanField, text: string | null): Value | undefined {
  if (text === null) return null
  const typed = text.replaceAll(/[ ,]/g, '')
  if (typed === '') return undefined
  if (field === 'custom') return typed === 'true'
  return field === 'credits' || field === 'period' ? typed : Number(typed)
}

export interface PlanDifference {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** The change in words. */
export function differencesOf(plan: Plan | null, change: PlanChange): PlanDifference[] {
  return FIELDS.flatMap((field) => {
    const value = change[field]
    if (value === undefined) return []
    const before = plan === null ? planStrings.plansUnset : shown(field, plan[field])
    return [{ name: planStrings.plansFields[field], before, after: shown(field, value) }]
  })
}

function shown(field: PlanField, value: Value): string {
  if (value === null) return field === 'days' ? planStrings.plansNoEnd : planStrings.plansUnlimited
  if (typeof value === 'boolean') return value ? planStrings.plansYes : planStrings.plansNo
  return field === 'period' ? labelOf(String(value)) : groupedText(String(value))
}
