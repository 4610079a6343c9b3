// What a fill costs: rates in ten-millionths of the notional, cut to 10^-6 towards zero.

import { notional, toMicro } from './fixed-point.ts'
import type { Market } from './market.ts'
import type { Builder, Side } from './order.ts'

const RATE_UNIT = 10_000_000n
/** Ten-millionths: 4.5 and 1.5 basis points, and a rebate of 0.3 for market makers. */
const PERP_TAKER = 4_500n
const PERP_MAKER = 1_500n
const PERP_REBATE = -300n
const SPOT_TAKER = 7_000n
const SPOT_MAKER = 4_000n
/** Builder-deployed markets cost twice as much; half of a fee above zero is the deployer's. */
const DEPLOYED = 2n
/** Tenths of a basis point. */
const BUILDER_UNIT = 100_000n

/** The rates of the main DEX, in ten-millionths. */
export const FEE_RATES = {
  perpTaker: PERP_TAKER,
  perpMaker: PERP_MAKER,
  perpRebate: PERP_REBATE,
  spotTaker: SPOT_TAKER,
  spotMaker: SPOT_MAKER,
} as const

export interface FillFee {
  /** In the fee token; includes `builderFee`. Below zero is a rebate. */
  readonly fee: bigint
  readonly builderFee: bigint
  readonly deployerFee: bigint
}

/** Fee of a perp fill, in USDC. */
export function perpFee(
  market: Market,
  px: bigint,
  sz: bigint,
  crossed: boolean,
  rebate: boolean,
  builder: Builder | null,
): FillFee {
  const ntl = notional(px, sz)
  const base = crossed ? PERP_TAKER : rebate ? PERP_REBATE : PERP_MAKER
  const exchange = toMicro((ntl * base * (market.dex > 0 ? DEPLOYED : 1n)) / RATE_UNIT)
  const builderFee = builder === null ? 0n : toMicro((ntl * BigInt(builder.f)) / BUILDER_UNIT)
  const deployerFee = market.dex > 0 && exchange > 0n ? toMicro(exchange / 2n) : 0n
  return { fee: exchange + builderFee, builderFee, deployerFee }
}

/**
 * Fee of a spot or outcome fill: a spot buyer pays in the token bought, a seller in USDC.
 * Buying outcome shares is free.
 */
export function spotFee(market: Market, side: Side, px: bigint, sz: bigint, crossed: boolean): bigint {
  if (side === 'B' && market.kind === 'outcome') return 0n
  const paidOn = side === 'B' ? sz : notional(px, sz)
  return toMicro((paidOn * (crossed ? SPOT_TAKER : SPOT_MAKER)) / RATE_UNIT)
}
