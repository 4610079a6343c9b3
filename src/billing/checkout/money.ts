// Money in whole minor units of a currency. Invariants: never a float; displayed with the currency's exact number of
// decimals.

import * as z from 'zod'
import { inGroups } from '../../core/digit-groups.ts'

/** Currencies whose minor unit is not a hundredth, as counted by payment providers. */
const NO_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ')
const THREE_DECIMALS = 'bhd jod kwd omr tnd'.split(' ')
/** Tokens such as USDC, whose symbols are longer than currency codes. */
const TOKEN_DECIMALS = 6
const CODE_LENGTH = 3

/** Maximum amount of an order. */
export const MINOR_MAX = 99_999_999
const minorMessage = `must be a whole number of minor units (cents) from 1 to ${inGroups(MINOR_MAX)}`

export const Minor = z.int(minorMessage).min(1, minorMessage).max(MINOR_MAX, minorMessage)
export const Currency = z.string().regex(/^[a-z]{3}$/, 'must be three lower-case letters such as "eur"')

function decimalsOf(currency: string): number {
  if (currency.length > CODE_LENGTH) return TOKEN_DECIMALS
  return NO_DECIMALS.includes(currency) ? 0 : THREE_DECIMALS.includes(currency) ? 3 : 2
}

/** `1900` in `eur` is `19.00`, and `5000` in `usdc` is `0.005000`. */
export function moneyText(minor: number, currency: string): string {
  const decimals = decimalsOf(currency)
  if (decimals === 0) return String(minor)
  const digits = String(minor).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** Minor units of an amount such as `19.00` or `19`; null: not an amount of this currency. */
export function parseMoney(text: string, currency: string): number | null {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const decimals = decimalsOf(currency)
  return whole === undefined || fraction.length > decimals ? null : Number(whole + fraction.padEnd(decimals, '0'))
}
