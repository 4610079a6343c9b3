// A whole number as people type it. Law: decimal digits alone, so that nobody's 0x50, 1e3 or 080 is taken for another
// number than they meant.

import * as z from 'zod'

/** Text to a number from `least` to `most`; whatever else is refused in words that follow the name of the field. */
export function wholeNumber(min: number, max: number) {
  const words = `must be a whole number from ${min} to ${max}, in digits alone`
  return z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/, words)
    .transform(Number)
    .pipe(z.number().min(min, words).max(max, words))
}
