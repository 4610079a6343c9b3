// Values of options, read before anything is sent. What only a gateway can judge (is there such a plan?) is left to it;
// here is what would be lost on the way: numbers, times and the words that mean "none".

import * as z from 'zod'
import { parseCredits } from '../core/amount.ts'
import { wholeNumber } from '../core/whole-number.ts'

/** Thirty days. */
const GRACE_MAX_SECONDS = 30 * 86_400
const NO_TIME = 'must be a UTC day such as 2027-01-31 or a time with its zone such as 2027-01-31T12:00Z'
const NO_URL = 'must be like https://weir.example.workers.dev, without a path'

/** Credits stay text, so that no digit is lost. */
export const CreditsValue = z.string().superRefine((text, { addIssue }) => {
  const credits = parseCredits(text)
  if (!credits.ok) addIssue(credits.error)
})

export const CapValue = z.union([z.literal('none'), CreditsValue], 'must be credits such as 100 or 0.13, or none')

/** Unix ms. */
export const TimeValue = z
  .union([z.iso.date(), z.iso.datetime({ offset: true, precision: -1 }), z.iso.datetime({ offset: true })], NO_TIME)
  .transform((text) => Date.parse(text))

export const ExpiryValue = z.union([z.literal('never'), TimeValue], `${NO_TIME}, or never`)

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
export const KeptDaysValue = z.union(
  [z.literal('none'), wholeNumber(1, 36_500).transform(String)],
  'must be a whole number of days from 1 to 36500, or none',
)

export const DayValue = z.iso.date('must be a UTC day such as 2026-11-01')

export const UrlValue = z.url({ protocol: /^https?$/, error: NO_URL }).regex(/^\w+:\/\/[^\s/?#@\\]+\/?$/, NO_URL)
