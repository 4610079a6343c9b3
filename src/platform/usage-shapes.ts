// What was used, as answers to owners of keys and to operators show it: the same three counts under the same three names.

import * as z from 'zod'
import type { PlacedUsage, UsagePlace, UsageSum } from '../credit/usage.ts'
import { Day, dayText, startOf } from './usage-window.ts'

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

/** The counts as answers show them. */
export function shownCounts({ calls, minutes, rows }: UsageSum) {
  return { calls, stream_minutes: minutes, pipeline_rows: rows }
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
