// The variables of the Worker that runs SQL.

import * as z from 'zod'
import { Count } from '../../core/variables.ts'

export const SqlSettings = z.object({
  /** Objects that run SQL, each one batch at a time. */
  SQL_RUNNERS: Count(64),
  /** What callers over a socket present; empty: a service binding alone leads here. */
  SQL_TOKEN: z.string('must be text, or empty'),
})
