// Money in whole minor units of a currency. Invariants: never a float; displayed with the currency's exact number of
// decimals.

import * as z from 'zod'
import { inGroups } from '../../core/digit-groups.ts'

/** Currencies whose minor unit is not a hundredth, as counted by payment providers. */
const NO_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ')
const THREE_DECIMALS = 'bhd jod kwd omr tnd'.split(' ')

const MINOR_MAX = 99_999_999
const minorMessage = `must be a whole number of minor units (cents) from 1 to ${inGroups(MINOR_MAX)}`

export const Minor = z.int(minorMessage).min(1, minorMessage).max(MINOR_MAX, minorMessage)
export const Currency = z.string().regex(/^[a-z]{3}$/, 'must be three lower-case letters such as "eur"')

/** `1900` in `eur` is `19.00`. */
export function moneyText(minor: number, currency: string): string {
  const decimals = NO_DECIMALS.includes(currency) ? 0 : THREE_DECIMALS.includes(currency) ? 3 : 2
  if (decimals === 0) return String(minor)
  const digits = String(minor).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
