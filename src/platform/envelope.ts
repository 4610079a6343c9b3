// What every answer of the platform to a key is wrapped in.

import * as z from 'zod'

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
