// What was used, as answers to owners of keys and to operators show it: the same three counts under the same three names.

import * as z from 'zod'
import { formatCredits } from '../credit/amount.ts'
import { type PlacedUsage, sumOfUsage, type UsagePlace, type UsageReport, type UsageSum } from '../credit/usage.ts'
import { CreditsText } from './fields.ts'
import { Day, dayText, startOf, type UsageWindow } from './usage-window.ts'

/** Counts that are never added up. */
export const COUNTS = {
  calls: z
    .int()
    .describe('Requests that were answered and settled, `post` over a socket among them; free ones are not counted'),
  stream_minutes: z.int().describe('Minutes of subscriptions that were started and charged'),
  pipeline_rows: z
    .int()
    .describe(
      'Rows that pipelines delivered, a long one as one for each KiB; where they are free they are not counted',
    ),
}

export const USED_TYPE = {
  product: z
    .string()
    .describe('`info`: `POST /info` and `post` over a socket; `stream`: subscriptions; `pipeline`: rows of pipelines'),
  type: z.string().describe('The info type, the channel or the topic, as on the wire'),
}

const PLACE = /^([\d-]{10})\.([0-9a-f]{64})\.(\w{1,64})\.(\w{1,64})$/

/** The counts and what they cost. */
export const USED = { ...COUNTS, credits: CreditsText.describe('What they cost') }
export const USED_EXAMPLE = { calls: 3, stream_minutes: 1, pipeline_rows: 0, credits: '3.13' }

/** Of reports: the days that they are of, and the sum of all of them. */
export const REPORTED = {
  period: z.object({ from: Day, to: Day }).describe('The days of the report, both included'),
  totals: z.object(USED).describe('All days together'),
}
export const TypeUsed = z.object({ ...USED_TYPE, ...USED })
export const TYPE_USED_EXAMPLE = { product: 'info', type: 'l2Book', ...USED_EXAMPLE }

/** The counts and what they cost, as answers show them. */
export function shownUsed({ calls, minutes, rows, amount }: UsageSum) {
  return { calls, stream_minutes: minutes, pipeline_rows: rows, credits: formatCredits(amount) }
}

/** What every report shows of what a meter summed for its window. */
export function shownReport({ byDay, byType }: UsageReport, { fromMs, toMs }: UsageWindow) {
  return {
    period: { from: dayText(fromMs), to: dayText(toMs - 1) },
    totals: shownUsed(sumOfUsage(byDay)),
    by_type: byType.map((sum) => ({ product: sum.product, type: sum.type, ...shownUsed(sum) })),
  }
}

/** A place among rows, as `next` of a page has it. */
export const Place = z.string().transform((text, context): UsagePlace => {
  const [, day, keyHash = '', product = '', type = ''] = PLACE.exec(text) ?? []
  if (Day.safeParse(day).success) return { day: startOf(day as string), keyHash, product, type }
  context.addIssue({ code: 'custom', message: 'must be "next" of the page before' })
  return z.NEVER
})

/** The place of a row, from which the next page goes on. */
export function placeText({ day, keyHash, product, type }: PlacedUsage): string {
  return [dayText(day), keyHash, product, type].join('.')
}
