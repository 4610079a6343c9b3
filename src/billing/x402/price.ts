// The price of a payment. Invariants: integer arithmetic; an amount is rounded up to the asset's smallest unit, so the
// credits that it grants are never worth more than was paid.

import type { MicroCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Quote } from '../checkout/prices.ts'
import type { PaymentNetwork } from './settings.ts'

const MILLION = 1_000_000n

type Prices = Pick<PaymentNetwork, 'asset' | 'creditsPerUsd' | 'leastUsd' | 'multiple' | 'topUp'>

/** Price without a key of a call that costs `price` with one. */
export function quoteForCall(price: MicroCredits, { asset, creditsPerUsd, leastUsd, multiple }: Prices): Quote {
  const rate = BigInt(creditsPerUsd)
  const least = dividedUp(BigInt(leastUsd) * rate, MILLION)
  const scaled = dividedUp(BigInt(price) * BigInt(multiple), MILLION)
  const micro = Math.max(Number(least), Number(scaled))
  return { micro, minor: Number(dividedUp(BigInt(micro) * MILLION, rate)), currency: currencyOf(asset) }
}

/** Credits for `usd`, such as "5" or "2.50". The error says what to send instead. */
export function quoteForUsd(usd: string, { asset, creditsPerUsd, topUp }: Prices): Result<Quote, string> {
  const [, whole, cents = ''] = /^(\d{1,6})(?:\.(\d{1,2}))?$/.exec(usd) ?? []
  const minor = whole === undefined ? 0 : Number(whole) * 1e6 + Number(cents.padEnd(2, '0')) * 1e4
  if (minor < topUp.leastUsd || minor > topUp.mostUsd)
    return err(
      `must be an amount in US dollars such as 5 or 2.50, from ${usdText(topUp.leastUsd)} to ${usdText(topUp.mostUsd)}`,
    )
  return ok({ micro: Number((BigInt(minor) * BigInt(creditsPerUsd)) / MILLION), minor, currency: currencyOf(asset) })
}

const currencyOf = ({ symbol }: Prices['asset']) => symbol.toLowerCase()

const dividedUp = (value: bigint, by: bigint) => (value + by - 1n) / by

/** Millionths as a decimal without trailing zeros. */
export function usdText(millionths: number): string {
  const fraction = String(millionths % 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${Math.floor(millionths / 1e6)}${fraction && `.${fraction}`}`
}
