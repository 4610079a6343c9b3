// A whole number that a person types. Invariant: only decimal digits are accepted, so that 0x50, 1e3 or 080 are never
// misread.

import * as z from 'zod'
import { inGroups } from './digit-groups.ts'

/** Parses a string into a number from `min` to `max`. The error message is written to follow the name of the field. */
export function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${inGroups(min)} to ${inGroups(max)}, digits only`
  return z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message))
}
