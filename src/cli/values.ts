// Values of options, read before anything is sent. What only a gateway can judge (is there such a plan?) is left to it;
// here is what would be lost on the way: numbers, times and the words that mean "none".

import * as z from 'zod'
import { parseCredits } from '../core/amount.ts'
import { nearestName } from '../core/nearest.ts'
import { wholeNumber } from '../core/whole-number.ts'

/** Thirty days. */
const GRACE_MAX_SECONDS = 30 * 86_400
const TIME_MESSAGE = 'must be a UTC day such as 2027-01-31 or a time with its zone such as 2027-01-31T12:00Z'
const URL_MESSAGE = 'must be like https://weir.example.workers.dev, without a path'

/** Credits stay text, so that no digit is lost. */
export const CreditsValue = z.string().superRefine((text, { addIssue }) => {
  const credits = parseCredits(text)
  if (!credits.ok) addIssue(credits.error)
})

export const CapValue = z.union([z.literal('none'), CreditsValue], 'must be credits such as 100 or 0.13, or none')

/** Unix ms. */
export const TimeValue = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true, precision: -1 }), z.iso.datetime({ offset: true })],
    TIME_MESSAGE,
  )
  .transform((text) => Date.parse(text))

export const ExpiryValue = z.union([z.literal('never'), TimeValue], `${TIME_MESSAGE}, or never`)

export const GraceValue = wholeNumber(0, GRACE_MAX_SECONDS)

/** May be empty, which takes a label away; what begins with two dashes is an option whose value was forgotten. */
export const LabelValue = z.string().regex(/^(?!--)/, 'is an option: give the label first')

export const ListValue = z.string().transform((text) => text.split(','))

export const RangesValue = z.string().transform((text) => (text === 'none' ? text : text.split(',')))

export const PipelinesValue = z.enum(['own', 'all', 'none'], 'must be own, all or none')

/** `none` and `never` as the admin API has them: commander keeps no null. */
export function orNull<T>(value: T): Exclude<T, 'none' | 'never'> | null {
  return value === 'none' || value === 'never' ? null : (value as Exclude<T, 'none' | 'never'>)
}

/** How fast the past is played. */
export const SpeedValue = z.union(
  [z.literal('max'), z.coerce.number().min(1).max(300)],
  'must be 1 to 300 times as fast as it was, or max',
)

/** Text, as the admin API takes it in a URL. */
export const RetentionDaysValue = z.union(
  [z.literal('none'), wholeNumber(1, 36_500).transform(String)],
  'must be a whole number of days from 1 to 36500, or none',
)

export const DayValue = z.iso.date('must be a UTC day such as 2026-11-01')

export const UrlValue = z
  .url({ protocol: /^https?$/, error: URL_MESSAGE })
  .regex(/^\w+:\/\/[^\s/?#@\\]+\/?$/, URL_MESSAGE)

const NUMBER_FORM = /^-?\d+(\.\d+)?$/

/** Every term: what follows `=`, and its unit and meaning. */
const TERMS: Readonly<Record<string, readonly [value: string, meaning: string]>> = {
  credits: ['N', 'credits given for each period'],
  period: ['once|month', 'they come once, or each month anew (plans alone)'],
  days: ['N|none', 'after so many days a plan of the period "once" ends (plans alone)'],
  info_requests_per_second: ['N', 'requests a second of each key to POST /info'],
  rest_requests_per_second: ['N|none', 'requests a second of each key to /platform, not to POST /info; none: no limit'],
  stream_connections: ['N', 'sockets of the account at a time'],
  stream_subscriptions: ['N', 'subscriptions of the account at a time'],
  stream_messages_per_minute: ['N', 'frames that each socket may send in a minute'],
  custom: ['true|false', 'whether terms may be agreed per account (plans alone)'],
}

/** What can be said after `--terms`, for help. */
export const TERMS_HELP = `
Terms, any of them, as name=value with commas between:
${Object.entries(TERMS)
  .map(([name, [value, meaning]]) => `  ${`${name}=${value}`.padEnd(38)}${meaning}`)
  .join('\n')}`

/** The fields as the admin API takes them; credits stay text, so that no digit is lost. All that is wrong is said at once. */
export const TermsValue = termsSchema([])

/** Those of a plan: where they are refused, what a new one still needs is said too. */
export const PlanTermsValue = termsSchema(['credits', 'rest_requests_per_second'])

function termsSchema(needed: readonly string[]) {
  return z.string().transform((text, { addIssue }) => {
    const pairs = text.split(',').map((pair): [string, string] => {
      const [name = '', ...value] = pair.trim().split('=')
      return [name, value.join('=')]
    })
    const names = pairs.map(([name]) => name)
    const twice = names.filter((name, i) => names.indexOf(name) < i).map((name) => `has "${name}" twice`)
    const wrong = [...pairs.flatMap(([name, value]) => termError(name, value) ?? []), ...twice]
    if (wrong.length === 0) return Object.fromEntries(pairs.map(([name, value]) => [name, parseTerm(name, value)]))
    const missing = needed.filter((name) => !names.includes(name))
    const more = missing.length === 0 ? '' : `; a new plan needs ${missing.join(' and ')} too`
    addIssue(`must be like credits=5000,days=none: ${wrong.join('; ')}${more}`)
    return z.NEVER
  })
}

/** The error in a malformed term, or undefined. */
function termError(name: string, value: string): string | undefined {
  const term = Object.hasOwn(TERMS, name) ? TERMS[name] : undefined
  if (term === undefined) {
    const meant = nearestName(name, Object.keys(TERMS))
    return `there is no term ${JSON.stringify(name)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  }
  const fits = term[0].split('|').some((form) => (form === 'N' ? NUMBER_FORM.test(value) : form === value))
  return fits ? undefined : `${name} is ${term[0].replaceAll('|', ' or ')}`
}

function parseTerm(name: string, value: string): unknown {
  if (value === 'none') return null
  if (value === 'true' || value === 'false') return value === 'true'
  return name !== 'credits' && NUMBER_FORM.test(value) ? Number(value) : value
}
