// What every answer of the platform to a key is wrapped in.

import * as z from 'zod'
import type { MicroCredits } from '../credit/amount.ts'
import { formatCredits } from '../credit/amount.ts'

export const CreditsNumber = z.number().describe('Credits, to the millionth')

/** As a JSON number: a double holds every sum of micro-credits below eight billion credits to the millionth. */
export function creditsNumber(micro: MicroCredits): number {
  return Number(formatCredits(micro))
}

/** The schema of an answer with this data. */
export const enveloped = <Data extends z.ZodType>(data: Data) =>
  z.object({
    data: data.describe('The answer itself'),
    error: z.literal(false).describe('True in refusals'),
    error_message: z.null().describe('Text in refusals'),
    error_code: z.null().describe('The status as text in refusals'),
  })

export const inEnvelope = <const Data extends object>(data: Data) =>
  ({ data, error: false, error_message: null, error_code: null }) as const
