// Settles a trade for one of its two wallets: updates the position or balances, charges the fee, and creates the node's
// fill.

import type { Exchange } from './exchange.ts'
import { abs, formatAmount, min, notional, toMicro } from './fixed-point.ts'
import { type Market, marketAt, TOKEN_NAMES, USDC } from './market.ts'
import type { NodeFill } from './node-block.ts'
import type { Order } from './order.ts'
import { isMaker } from './roles.ts'
import { type Position, positionAt, type Wallet } from './wallet.ts'

export interface Trade {
  readonly px: bigint
  readonly sz: bigint
  readonly tid: number
  readonly hash: string
  /** True for a trade outside the book without a fee (backstop liquidation). */
  readonly free?: boolean
}

interface Fee {
  /** Fee in the fee token, including `builderFee`. Negative: a rebate. */
  readonly fee: bigint
  readonly builderFee: bigint
  readonly deployerFee: bigint
}
const NO_FEE: Fee = { fee: 0n, builderFee: 0n, deployerFee: 0n }

interface Effect extends Fee {
  readonly start: bigint
  readonly dir: string
  readonly closedPnl: bigint
  readonly feeToken: string
}

/** Applies one side of a trade to its wallet. Returns the fill. */
export function settle(x: Exchange, order: Order, trade: Trade, crossed: boolean): [string, NodeFill] {
  const market = marketAt(order.market)
  const wallet = x.accounts[order.owner]!
  const apply = market.kind === 'perp' ? settlePerp : settleSpot
  const effect = apply(x, wallet, market, order, trade, crossed)
  return [wallet.address, fillOf(x, market, order, trade, crossed, effect)]
}

function settlePerp(x: Exchange, wallet: Wallet, market: Market, order: Order, trade: Trade, crossed: boolean): Effect {
  const margin = wallet.margin[market.dex]!
  const position = margin.positions.get(market.id) ?? positionAt(market.maxLeverage)
  const delta = order.side === 'B' ? trade.sz : -trade.sz
  const change = applyFill(position, delta, trade.px)
  // A closed position is removed. A flipped position counts as the one opened last.
  if (position.szi === 0n) margin.positions.delete(market.id)
  else margin.positions.set(market.id, position)
  const ntl = notional(trade.px, trade.sz)
  const cost = trade.free ? NO_FEE : perpFee(market, order, ntl, crossed)
  margin.rawUsd -= signed(order.side === 'B', ntl) + cost.fee
  takeFee(x, order, cost)
  return { ...change, ...cost, feeToken: 'USDC' }
}

function takeFee(x: Exchange, order: Order, cost: Fee): void {
  const { pools } = x
  pools.fees += cost.fee - cost.builderFee - cost.deployerFee
  pools.deployerFees += cost.deployerFee
  if (order.builder === null || cost.builderFee === 0n) return
  const { account } = order.builder
  pools.builderFees.set(account, (pools.builderFees.get(account) ?? 0n) + cost.builderFee)
}

function settleSpot(x: Exchange, wallet: Wallet, market: Market, order: Order, trade: Trade, crossed: boolean): Effect {
  const token = wallet.spot[market.token]!
  const usdc = wallet.spot[USDC]!
  const start = token.total
  const ntl = notional(trade.px, trade.sz)
  const isBuyer = order.side === 'B'
  const feeInToken = isBuyer && market.kind === 'spot'
  // The buyer of a token pays the fee in this token, and the seller in USDC. A buyer of outcome shares pays no fee.
  const isFree = isBuyer && market.kind === 'outcome'
  const rate = isFree ? 0n : crossed ? SPOT_TAKER : SPOT_MAKER
  const fee = toMicro(((isBuyer ? trade.sz : ntl) * rate) / RATE_UNIT)
  if (isBuyer) {
    usdc.total -= ntl
    token.total += trade.sz - fee
    token.cost += ntl
    x.pools.tokenFees[market.token]! += fee
    const feeToken = feeInToken ? TOKEN_NAMES[market.token]! : 'USDC'
    return { ...NO_FEE, start, dir: 'Buy', closedPnl: 0n, fee, feeToken }
  }
  const released = start === trade.sz ? token.cost : toMicro((token.cost * trade.sz) / start)
  token.total -= trade.sz
  token.cost -= released
  usdc.total += ntl - fee
  x.pools.fees += fee
  return { ...NO_FEE, start, dir: 'Sell', closedPnl: ntl - released, fee, feeToken: 'USDC' }
}

/** The fill with its keys in the node's order. Keys that do not apply are left out. */
function fillOf(x: Exchange, market: Market, order: Order, trade: Trade, crossed: boolean, effect: Effect): NodeFill {
  const routed = order.builder !== null && effect.builderFee > 0n
  return {
    coin: market.coin,
    px: formatAmount(trade.px),
    sz: formatAmount(trade.sz),
    side: order.side,
    time: x.block.timeMs,
    startPosition: formatAmount(effect.start),
    dir: effect.dir,
    closedPnl: formatAmount(effect.closedPnl),
    hash: trade.hash,
    oid: order.oid,
    crossed,
    fee: formatAmount(effect.fee),
    ...(routed ? { builderFee: formatAmount(effect.builderFee) } : {}),
    tid: trade.tid,
    ...(order.cloid === null ? {} : { cloid: order.cloid }),
    ...(order.liquidation === null ? {} : { liquidation: order.liquidation }),
    ...(routed ? { builder: x.accounts[order.builder!.account]!.address } : {}),
    feeToken: effect.feeToken,
    ...(effect.deployerFee > 0n ? { deployerFee: formatAmount(effect.deployerFee) } : {}),
    twapId: order.twapId,
  }
}

type PerpDir = 'Open Long' | 'Open Short' | 'Close Long' | 'Close Short' | 'Long > Short' | 'Short > Long'

interface PositionChange {
  readonly start: bigint
  readonly dir: PerpDir
  readonly closedPnl: bigint
}

/** Applies a fill of signed size `delta` at `px`. The caller removes the position when `szi` is zero. */
export function applyFill(position: Position, delta: bigint, px: bigint): PositionChange {
  const start = position.szi
  const long = start > 0n
  position.szi = start + delta
  position.fundingSinceChange = 0n
  if (start === 0n || long === delta > 0n) {
    position.cost += signed(delta > 0n, notional(px, abs(delta)))
    return { start, dir: delta > 0n ? 'Open Long' : 'Open Short', closedPnl: 0n }
  }
  const closing = min(abs(start), abs(delta))
  const whole = closing === abs(start)
  const released = whole ? position.cost : toMicro((position.cost * closing) / abs(start))
  const closedPnl = signed(long, notional(px, closing)) - released
  const rest = abs(delta) - closing
  position.cost = position.cost - released + signed(delta > 0n, notional(px, rest))
  if (whole) position.fundingSinceOpen = 0n
  if (rest > 0n) return { start, dir: long ? 'Long > Short' : 'Short > Long', closedPnl }
  return { start, dir: long ? 'Close Long' : 'Close Short', closedPnl }
}

function signed(positive: boolean, size: bigint): bigint {
  return positive ? size : -size
}

/** Rates are in ten-millionths of the notional; fees are truncated to 10^-6. */
const RATE_UNIT = 10_000_000n
/** Rates in ten-millionths: 4.5 and 1.5 basis points, and for market makers a rebate of 0.3 basis points. */
const PERP_TAKER = 4_500n
const PERP_MAKER = 1_500n
const PERP_REBATE = -300n
const SPOT_TAKER = 7_000n
const SPOT_MAKER = 4_000n
/** Fees on builder-deployed markets are multiplied by this. The deployer gets half of a positive fee. */
const DEPLOYED = 2n
/** Tenths of a basis point. */
const BUILDER_UNIT = 100_000n

/** Fee of a perp fill, in USDC. */
function perpFee({ dex }: Market, { owner, builder }: Order, ntl: bigint, crossed: boolean): Fee {
  const base = crossed ? PERP_TAKER : isMaker(owner) ? PERP_REBATE : PERP_MAKER
  const exchange = toMicro((ntl * base * (dex > 0 ? DEPLOYED : 1n)) / RATE_UNIT)
  const builderFee = builder === null ? 0n : toMicro((ntl * BigInt(builder.f)) / BUILDER_UNIT)
  const deployerFee = dex > 0 && exchange > 0n ? toMicro(exchange / 2n) : 0n
  return { fee: exchange + builderFee, builderFee, deployerFee }
}
