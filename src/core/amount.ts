// Text and numbers of credits to micro-credits and back: the only place where decimals of credits exist.
// Law: exact or refused; nothing is rounded.

import Big from 'big.js'
import { err, ok, type Result } from './result.ts'

/** An integer of millionths of a credit. A plain number is taken for one; an amount of another unit is not. */
export type MicroCredits = number & { readonly unit?: 'micro-credits' }
/** A number of whole credits, as people write it. */
export type Credits = number & { readonly unit?: 'credits' }

export const MICRO_PER_CREDIT = 1_000_000

/** Largest amount in one grant: a billion credits; sums stay exact integers up to nine times that. */
const MAX_GRANT_CREDITS = 1_000_000_000

const CREDITS = /^\d{1,10}(?:\.\d+)?$/

/** Credits as a person writes them (`25000`, `"0.13"`). The error says what to send instead. */
export function parseCredits(credits: string | Credits): Result<MicroCredits, string> {
  const text = typeof credits === 'number' ? (Number.isFinite(credits) ? new Big(credits).toFixed() : 'NaN') : credits
  if (text.startsWith('-')) return err('must not be negative')
  if (!CREDITS.test(text)) return err('must be a number of credits such as 100 or "0.13"')
  const micro = new Big(text).times(MICRO_PER_CREDIT)
  if (!micro.eq(micro.round(0))) return err('has more than 6 decimals')
  if (micro.gt(new Big(MAX_GRANT_CREDITS).times(MICRO_PER_CREDIT)))
    return err(`is more than ${MAX_GRANT_CREDITS} credits`)
  return ok(micro.toNumber())
}

/** Credits as text without trailing zeros: 130000 is `"0.13"`, 1000000 is `"1"`. */
export function formatCredits(micro: MicroCredits): string {
  const whole = Math.floor(micro / MICRO_PER_CREDIT)
  const rest = micro % MICRO_PER_CREDIT
  // By integers, not big.js: this stands in every reply's header, and a division there costs 2 µs.
  return rest === 0 ? String(whole) : `${whole}.${String(rest).padStart(6, '0').replace(/0+$/, '')}`
}

/** The amount. A negative or fractional one is a bug of the caller, and must not reach the ledger. */
export function wholeMicro(amount: MicroCredits): MicroCredits {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new Error('an amount is a whole number of micro-credits')
  return amount
}
