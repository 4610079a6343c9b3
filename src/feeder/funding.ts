// The hourly funding event lists every open position and can exceed 20 MB; one number per coin says the same.

import * as z from 'zod'
import { DECIMAL, fromScaled, SCALE_DECIMALS, toScaled } from '../core/decimal.ts'
import { type CoinFunding, CoinName } from '../feed/block.ts'

const Delta = z.looseObject({
  coin: CoinName,
  funding_amount: z.string().regex(DECIMAL),
  szi: z.string().regex(DECIMAL),
})
/** Payload of the `Funding` variant of a misc event. */
export const FundingPayload = z.looseObject({ deltas: z.array(Delta) })

const ONE = 10n ** BigInt(SCALE_DECIMALS)

/**
 * USDC per unit of size, positive paid by longs, 18 decimals. The node rounds each amount, so the ratio of the sums
 * is taken: the rounding of thousands of positions cancels out, that of a single small one does not.
 */
export function reduceFunding(deltas: readonly z.infer<typeof Delta>[]): CoinFunding[] {
  const sums = new Map<string, { paid: bigint; size: bigint }>()
  for (const { coin, funding_amount, szi } of deltas) {
    const size = toScaledSigned(szi)
    if (size === 0n) continue
    const received = toScaledSigned(funding_amount)
    const sum = sums.get(coin) ?? { paid: 0n, size: 0n }
    // Longs pay what shorts receive: seen from a long, a short's receipt is a payment.
    sum.paid += size > 0n ? -received : received
    sum.size += size > 0n ? size : -size
    sums.set(coin, sum)
  }
  return [...sums].map(([coin, { paid, size }]) => ({ coin, perUnit: fromScaled((paid * ONE) / size) }))
}

function toScaledSigned(text: string): bigint {
  return text.startsWith('-') ? -toScaled(text.slice(1)) : toScaled(text)
}
