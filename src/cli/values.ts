// Parses option values before anything is sent: numbers, times and words for "none". The gateway validates the rest, such as
// whether a plan exists.

import * as z from 'zod'
import { parseCredits } from '../core/amount.ts'
import { nearestName } from '../core/nearest.ts'
import { REGIONS } from '../core/variables.ts'
import { wholeNumber } from '../core/whole-number.ts'

/** 30 days. */
const GRACE_MAX_SECONDS = 30 * 86_400
const TIME_MESSAGE = 'must be a UTC day such as 2027-01-31, or a time with a time zone such as 2027-01-31T12:00Z'
const URL_MESSAGE = 'must be a URL without a path, such as https://weir.example.workers.dev'

/** Credits stay strings to keep every digit. */
export const CreditsValue = z.string().superRefine((text, { addIssue }) => {
  const credits = parseCredits(text)
  if (!credits.ok) addIssue(credits.error)
})

export const CapValue = z.union(
  [z.literal('none'), CreditsValue],
  'must be a number of credits such as 100 or 0.13, or none',
)

/** Unix ms. */
export const TimeValue = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true, precision: -1 }), z.iso.datetime({ offset: true })],
    TIME_MESSAGE,
  )
  .transform((text) => Date.parse(text))

export const ExpiryValue = z.union([z.literal('never'), TimeValue], `${TIME_MESSAGE}, or never`)

export const GraceValue = wholeNumber(0, GRACE_MAX_SECONDS)

/** May be empty, which removes the label. A value with leading dashes is the next option, so the label is missing. */
export const LabelValue = z.string().regex(/^(?!--)/, 'is an option; the label is missing')

export const ListValue = z.string().transform((text) => text.split(','))

export const RangesValue = z.string().transform((text) => (text === 'none' ? text : text.split(',')))

export const PipelinesValue = z.enum(['own', 'all', 'none'], 'must be own, all or none')

/** `none` and `never` become null here, because commander cannot return null. */
export function orNull<T>(value: T): Exclude<T, 'none' | 'never'> | null {
  return value === 'none' || value === 'never' ? null : (value as Exclude<T, 'none' | 'never'>)
}

/** Replay speed. */
export const SpeedValue = z.union(
  [z.literal('max'), z.coerce.number().min(1).max(300)],
  'must be a speed factor from 1 to 300, or max',
)

/** A string, as a query parameter of the admin API. */
export const RetentionDaysValue = z.union(
  [z.literal('none'), wholeNumber(1, 36_500).transform(String)],
  'must be a whole number of days from 1 to 36,500, or none',
)

/** Help text for `--region`. */
export const REGION_HELP = `region of a new account's calls, where its meter is created: ${REGIONS.join(', ')} (default: FEED_REGION)`

export const DayValue = z.iso.date('must be a UTC day such as 2026-11-01')

export const UrlValue = z
  .url({ protocol: /^https?$/, error: URL_MESSAGE })
  .regex(/^\w+:\/\/[^\s/?#@\\]+\/?$/, URL_MESSAGE)

const NUMBER_FORM = /^-?\d+(\.\d+)?$/

/** Every term with the form of its value and its meaning. */
const TERMS: Readonly<Record<string, readonly [value: string, meaning: string]>> = {
  credits: ['N', 'credits per period'],
  period: ['once|month', 'grant the credits once or every month (plans only)'],
  days: ['N|none', 'days until a plan with period "once" ends (plans only)'],
  info_requests_per_second: ['N', 'requests per second of each key to POST /info'],
  rest_requests_per_second: ['N|none', 'requests per second of each key to /platform; none: no limit'],
  stream_connections: ['N', 'open connections of the account'],
  stream_subscriptions: ['N', 'active subscriptions of the account'],
  stream_messages_per_minute: ['N', 'messages per minute that each connection may send'],
  custom: ['true|false', 'allow terms per account (plans only)'],
}

/** Help text for `--terms`. */
export const TERMS_HELP = `
Terms as name=value, separated by commas:
${Object.entries(TERMS)
  .map(([name, [value, meaning]]) => `  ${`${name}=${value}`.padEnd(38)}${meaning}`)
  .join('\n')}`

/** Terms as fields of the admin API. Credits stay strings to keep every digit. The error lists every problem. */
export const TermsValue = termsSchema([])

/** Terms of a plan. The error also lists the terms that a new plan still needs. */
export const PlanTermsValue = termsSchema(['credits', 'rest_requests_per_second'])

function termsSchema(needed: readonly string[]) {
  return z.string().transform((text, { addIssue }) => {
    const pairs = text.split(',').map((pair): [string, string] => {
      const [name = '', ...value] = pair.trim().split('=')
      return [name, value.join('=')]
    })
    const names = pairs.map(([name]) => name)
    const twice = names.filter((name, i) => names.indexOf(name) < i).map((name) => `"${name}" is given twice`)
    const wrong = [...pairs.flatMap(([name, value]) => termError(name, value) ?? []), ...twice]
    if (wrong.length === 0) return Object.fromEntries(pairs.map(([name, value]) => [name, parseTerm(name, value)]))
    const missing = needed.filter((name) => !names.includes(name))
    const more = missing.length === 0 ? '' : `; a new plan also needs ${missing.join(' and ')}`
    addIssue(`must have the form credits=5000,days=none: ${wrong.join('; ')}${more}`)
    return z.NEVER
  })
}

/** The error of a malformed term, or undefined. */
function termError(name: string, value: string): string | undefined {
  const term = Object.hasOwn(TERMS, name) ? TERMS[name] : undefined
  if (term === undefined) {
    const nearest = nearestName(name, Object.keys(TERMS))
    return `unknown term ${JSON.stringify(name)}${nearest === undefined ? '' : ` (did you mean ${nearest}?)`}`
  }
  const fits = term[0].split('|').some((form) => (form === 'N' ? NUMBER_FORM.test(value) : form === value))
  return fits ? undefined : `${name} must be ${term[0].replaceAll('|', ' or ')}`
}

function parseTerm(name: string, value: string): unknown {
  if (value === 'none') return null
  if (value === 'true' || value === 'false') return value === 'true'
  return name !== 'credits' && NUMBER_FORM.test(value) ? Number(value) : value
}
