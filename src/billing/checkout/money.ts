// Money: whole minor units of a currency. Law: never a float, and shown with exactly the decimals of its currency.

import * as z from 'zod'

/** Currencies whose smallest unit is not the hundredth, as payment providers count. */
const NO_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ')
const THREE_DECIMALS = 'bhd jod kwd omr tnd'.split(' ')

const MINOR_MAX = 99_999_999
const minorMessage = `must be a whole number of minor units (cents) from 1 to ${MINOR_MAX}`

export const Minor = z.int(minorMessage).min(1, minorMessage).max(MINOR_MAX, minorMessage)
export const Currency = z.string().regex(/^[a-z]{3}$/, 'must be three small letters such as "eur"')

/** `1900` of `eur` is `19.00`. */
export function moneyText(minor: number, currency: string): string {
  const decimals = NO_DECIMALS.includes(currency) ? 0 : THREE_DECIMALS.includes(currency) ? 3 : 2
  if (decimals === 0) return String(minor)
  const digits = String(minor).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
