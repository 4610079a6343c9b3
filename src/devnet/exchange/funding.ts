// Funding: every `fundingBlocks` blocks, longs pay shorts an amount per unit of size, or shorts pay longs. The amount has
// so few decimals that its product with any size is exact, so all payments add up to zero.

import { type Exchange, markPx } from './exchange.ts'
import { formatAmount, UNIT } from './fixed-point.ts'
import type { Market } from './market.ts'
import type { FundingDelta } from './node-block.ts'
import { ZERO_HASH } from './node-block.ts'

/** Hourly interest, 0.00125 percent, as an amount. */
const INTEREST = 1_250n
/** Bound of a rate: 4 percent in either direction. */
const CAP = 4_000_000n

/** Premium of the mark price over the oracle price, as an amount. */
export function premium(x: Exchange, market: number): bigint {
  const { fair } = x.quotes[market]!
  return ((markPx(x, market) - fair) * UNIT) / fair
}

/** Rate of one funding payment: interest plus an eighth of the premium. */
export function fundingRate(x: Exchange, market: number): bigint {
  const rate = INTEREST + premium(x, market) / 8n
  return rate > CAP ? CAP : rate < -CAP ? -CAP : rate
}

/** Pays funding when it is due. */
export function payFunding(x: Exchange): void {
  if (x.height % x.fundingBlocks !== 0) return
  const deltas: FundingDelta[] = []
  for (const market of x.scale.markets) if (market.kind === 'perp') payMarket(x, market, deltas)
  if (deltas.length > 0)
    x.block.miscEvents.push({ time: x.block.time, hash: ZERO_HASH, inner: { Funding: { deltas } } })
}

function payMarket(x: Exchange, market: Market, deltas: FundingDelta[]): void {
  const rate = fundingRate(x, market.id)
  const exact = 10n ** BigInt(market.szDecimals)
  const perUnit = ((x.quotes[market.id]!.fair * rate) / UNIT / exact) * exact
  if (perUnit === 0n) return
  const rateText = formatAmount(rate)
  for (const wallet of x.accounts) {
    const margin = wallet.margin[market.dex]!
    const position = margin.positions.get(market.id)
    if (position === undefined) continue
    const paid = (position.szi * perUnit) / UNIT
    margin.rawUsd -= paid
    position.fundingSinceOpen += paid
    position.fundingSinceChange += paid
    deltas.push({
      user: wallet.address,
      coin: market.coin,
      funding_amount: formatAmount(-paid),
      szi: formatAmount(position.szi),
      funding_rate: rateText,
    })
  }
}
