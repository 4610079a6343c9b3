// Fields that several requests and answers of the operator's API share.

import * as z from 'zod'
import { parseCredits } from '../credit/amount.ts'

/** How a caller said something that it should say otherwise, or that has no effect yet; beside an answer. */
export const WARNINGS = {
  warnings: z
    .array(z.string())
    .optional()
    .describe('What was understood, but should be said otherwise, or has no effect yet; left out where there is none'),
}

/** Warnings as they stand in an answer. */
export function warned(warnings: readonly string[]) {
  return warnings.length === 0 ? {} : { warnings }
}

/** Credits as a number or text, parsed to micro-credits exactly. */
export const Credits = z
  .union([z.number(), z.string()], 'must be a number of credits such as 100 or "0.13"')
  .transform((credits, context) => {
    const micro = parseCredits(credits)
    if (micro.ok) return micro.value
    context.addIssue({ code: 'custom', message: micro.error })
    return z.NEVER
  })

/** Credits in an answer: exact decimal text. */
export const CreditsText = z.string().regex(/^\d+(\.\d{1,6})?$/)

/** Name of an account as operators choose it. */
export const AccountId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'must be 1 to 64 letters, digits, "_" or "-", and begin with a letter or digit',
  )
  .describe('Name of the account')

/** By which a retry is known. */
export const IdempotencyKey = z
  .string('is required')
  .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters')
  .describe('Text of your choice: a retry with the same is not done again')

/** A moment in an answer. */
export const UnixMs = z.int().describe('Unix milliseconds')
