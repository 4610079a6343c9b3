// Rules of alerts on the page: the fields of the form, and a rule as a sentence.

import { groupedText } from '../ui/format.ts'
import * as alertStrings from './alert-strings.ts'
import type { AlertRule } from './responses.ts'

type Condition = AlertRule['condition']
export type ConditionType = Condition['type']

/** Fields of the form, as typed. Those that a type does not need keep their text. */
export interface ConditionFields {
  readonly type: string
  readonly threshold: string
  readonly days: string
  readonly statuses: string
  readonly percent: string
  readonly calls: string
  readonly minutes: string
  /** Hash; empty: all keys. */
  readonly key: string
}

/** Which fields a type needs, in the order of the form. */
const FIELDS: Readonly<Record<ConditionType, readonly Exclude<keyof ConditionFields, 'type'>[]>> = {
  credits_below: ['threshold'],
  credits_end: ['days'],
  errors: ['percent', 'statuses', 'calls', 'minutes', 'key'],
  rate_limited: ['calls', 'minutes', 'key'],
  limit_use: ['percent', 'minutes', 'key'],
}

const isConditionType = (type: string): type is ConditionType => Object.hasOwn(FIELDS, type)
export const fieldsOf = (type: string) => (isConditionType(type) ? FIELDS[type] : [])

const DEFAULTS: ConditionFields = {
  type: 'credits_below',
  threshold: '20%',
  days: '7',
  statuses: 'any',
  percent: '5',
  calls: '100',
  minutes: '15',
  key: '',
}

export function conditionFields(condition?: Condition): ConditionFields {
  const known = Object.entries(condition ?? {}).map(([name, value]) => [name, value === null ? '' : String(value)])
  return { ...DEFAULTS, ...Object.fromEntries(known) }
}

/** The condition of a request. Text that is no number becomes null, which the gateway rejects by the field's name. */
export function conditionInput(fields: ConditionFields): Record<string, unknown> {
  const numbers = ['days', 'percent', 'calls', 'minutes']
  const inputOf = (name: Exclude<keyof ConditionFields, 'type'>) => {
    const text = fields[name].trim()
    if (name === 'key') return text === '' ? null : text
    return numbers.includes(name) ? Number(text.replaceAll(',', '') || 'none') : text
  }
  const values = fieldsOf(fields.type).map((name) => [name, inputOf(name)])
  return { type: fields.type, ...Object.fromEntries(values) }
}

/** Such as "more than 5% of at least 100 calls in 15 minutes fail". */
export function conditionText(fields: ConditionFields, keyName: string): string {
  const { threshold, days, statuses, percent, minutes } = fields
  const calls = groupedText(fields.calls.trim() || '0')
  const ofKey = fields.key === '' ? '' : alertStrings.ofKey(keyName)
  switch (fields.type) {
    case 'credits_below':
      return threshold.trim() === '0' ? alertStrings.whenSpent : alertStrings.whenBelow(thresholdText(threshold.trim()))
    case 'credits_end':
      return alertStrings.whenEnds(days.trim())
    case 'errors':
      return alertStrings.whenErrors(percent.trim(), calls, ofKey, minutes, alertStrings.FAILS[statuses] ?? statuses)
    case 'rate_limited':
      return alertStrings.whenLimited(calls, ofKey, minutes)
    default:
      return alertStrings.whenUsed(percent.trim(), ofKey, minutes)
  }
}

const thresholdText = (threshold: string) =>
  threshold.endsWith('%') ? alertStrings.percentLeft(threshold) : alertStrings.creditsLeft(groupedText(threshold))

/** `channels`: names of those who get the alert. */
export function ruleSentence(fields: ConditionFields, channels: readonly string[], keyName: string): string {
  return alertStrings.sentence(listText(channels), conditionText(fields, keyName))
}

/** "a", "a and b", "a, b and c". */
function listText(names: readonly string[]): string {
  if (names.length === 0) return alertStrings.nobody
  return names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')}${alertStrings.and}${names.at(-1)}`
}

export const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
