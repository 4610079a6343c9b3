// A whole number typed by a person. Invariant: decimal digits only, so 0x50, 1e3 or 080 are never misread.

import * as z from 'zod'

/** Parses a string into a number from `min` to `max`. The error follows the name of the field. */
export function wholeNumber(min: number, max: number) {
  const words = `must be a whole number from ${min.toLocaleString('en-US')} to ${max.toLocaleString('en-US')}, digits only`
  return z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/, words)
    .transform(Number)
    .pipe(z.number().min(min, words).max(max, words))
}
