// Converts credits to and from micro-credits. No other file handles decimal credits. Invariant: amounts are exact or
// rejected, never rounded.

import Big from 'big.js'
import { inGroups } from './digit-groups.ts'
import { err, ok, type Result } from './result.ts'

/** Integer millionths of a credit. Accepts plain numbers, but not amounts in another unit. */
export type MicroCredits = number & { readonly unit?: 'micro-credits' }
/** Credits as a person writes them. */
export type Credits = number & { readonly unit?: 'credits' }

export const MICRO_PER_CREDIT = 1_000_000

/** Maximum of a single grant: a billion credits. Sums of up to nine billion credits are exact integers. */
const MAX_GRANT_CREDITS = 1_000_000_000

const CREDITS = /^\d{1,10}(?:\.\d+)?$/

/** Parses credits such as `25000` or `"0.13"`. The error says what to send instead. */
export function parseCredits(credits: string | Credits): Result<MicroCredits, string> {
  const text = typeof credits === 'number' ? (Number.isFinite(credits) ? new Big(credits).toFixed() : 'NaN') : credits
  if (text.startsWith('-')) return err('must not be negative')
  if (!CREDITS.test(text)) return err('must be a number of credits such as 100 or "0.13"')
  const micro = new Big(text).times(MICRO_PER_CREDIT)
  if (!micro.eq(micro.round(0))) return err('has more than 6 decimals')
  if (micro.gt(new Big(MAX_GRANT_CREDITS).times(MICRO_PER_CREDIT)))
    return err(`must be at most ${inGroups(MAX_GRANT_CREDITS)} credits`)
  return ok(micro.toNumber())
}

/** Credits as a string without trailing zeros: 130000 is `"0.13"`, 1000000 is `"1"`. */
export function formatCredits(micro: MicroCredits): string {
  const whole = Math.floor(micro / MICRO_PER_CREDIT)
  const rest = micro % MICRO_PER_CREDIT
  // This uses integer arithmetic instead of big.js, because every response has this header and a big.js division takes
  // 2 µs.
  return rest === 0 ? String(whole) : `${whole}.${String(rest).padStart(6, '0').replace(/0+$/, '')}`
}

/** Returns the amount. Throws if it is negative or fractional, which is a bug in the caller. */
export function wholeMicro(amount: MicroCredits): MicroCredits {
  if (!Number.isSafeInteger(amount) || amount < 0)
    throw new Error('amount must be a non-negative integer of micro-credits')
  return amount
}
