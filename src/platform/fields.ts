// Fields that several requests and answers of the operator's API share.

import * as z from 'zod'
import { parseCredits } from '../credit/amount.ts'

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
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, "_" or "-"')

/** By which a retry is known. */
export const IdempotencyKey = z
  .string('is required')
  .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters')

/** A moment in an answer. */
export const UnixMs = z.int().describe('Unix milliseconds')
