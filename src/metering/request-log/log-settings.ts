// Variables of the request log.

import * as z from 'zod'

const HOURS_MESSAGE = 'must be a whole number from 0 to 168'

export const RequestLogSettings = z.object({
  /** How long calls are kept. 0: no calls are stored. */
  REQUEST_LOG_HOURS: z.coerce.number(HOURS_MESSAGE).int(HOURS_MESSAGE).min(0, HOURS_MESSAGE).max(168, HOURS_MESSAGE),
})
