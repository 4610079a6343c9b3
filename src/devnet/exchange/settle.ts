// What a trade does to one of its two wallets, and the fill that the node writes about it.

import type { Exchange } from './exchange.ts'
import { type FillFee, perpFee, spotFee } from './fees.ts'
import { formatAmount, notional, toMicro } from './fixed-point.ts'
import { type Market, marketAt, TOKEN_NAMES, USDC } from './market.ts'
import type { NodeFill } from './node-block.ts'
import type { Order } from './order.ts'
import { applyFill } from './position.ts'
import { isMaker } from './roles.ts'
import type { Wallet } from './wallet.ts'

export interface Trade {
  readonly px: bigint
  readonly sz: bigint
  readonly tid: number
  readonly hash: string
  /** Outside the book: no fee is taken (backstop liquidation). */
  readonly free?: boolean
}

interface Effect {
  readonly start: bigint
  readonly dir: string
  readonly closedPnl: bigint
  readonly fee: bigint
  readonly feeToken: string
  readonly builderFee?: bigint
  readonly deployerFee?: bigint
}

const NO_FEE: FillFee = { fee: 0n, builderFee: 0n, deployerFee: 0n }

/** Applies one side of a trade to its wallet and answers the fill. */
export function settle(x: Exchange, order: Order, trade: Trade, crossed: boolean): [string, NodeFill] {
  const market = marketAt(order.market)
  const wallet = x.accounts[order.owner]!
  const effect =
    market.kind === 'perp'
      ? settlePerp(x, wallet, market, order, trade, crossed)
      : settleSpot(x, wallet, market, order, trade, crossed)
  return [wallet.address, fillOf(x, market, order, trade, crossed, effect)]
}

function settlePerp(x: Exchange, wallet: Wallet, market: Market, order: Order, trade: Trade, crossed: boolean): Effect {
  const margin = wallet.margin[market.dex]!
  const position = margin.positions.get(market.id) ?? {
    szi: 0n,
    cost: 0n,
    leverage: market.maxLeverage,
    fundingSinceOpen: 0n,
    fundingSinceChange: 0n,
  }
  const delta = order.side === 'B' ? trade.sz : -trade.sz
  const change = applyFill(position, delta, trade.px)
  // A position that is closed leaves; one that was flipped counts as opened last.
  if (position.szi === 0n) margin.positions.delete(market.id)
  else margin.positions.set(market.id, position)
  const cost = trade.free ? NO_FEE : perpFee(market, trade.px, trade.sz, crossed, isMaker(order.owner), order.builder)
  margin.rawUsd -= (order.side === 'B' ? 1n : -1n) * notional(trade.px, trade.sz) + cost.fee
  takeFee(x, order, cost)
  return { ...change, ...cost, feeToken: 'USDC' }
}

function takeFee(x: Exchange, order: Order, cost: FillFee): void {
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
  const fee = spotFee(market, order.side, trade.px, trade.sz, crossed)
  const feeInToken = order.side === 'B' && market.kind === 'spot'
  if (order.side === 'B') {
    usdc.total -= ntl
    token.total += trade.sz - fee
    token.cost += ntl
    x.pools.tokenFees[market.token]! += fee
    return { start, dir: 'Buy', closedPnl: 0n, fee, feeToken: feeInToken ? TOKEN_NAMES[market.token]! : 'USDC' }
  }
  const released = start === trade.sz ? token.cost : toMicro((token.cost * trade.sz) / start)
  token.total -= trade.sz
  token.cost -= released
  usdc.total += ntl - fee
  x.pools.fees += fee
  return { start, dir: 'Sell', closedPnl: ntl - released, fee, feeToken: 'USDC' }
}

/** Keys in the node's order; those that do not apply are absent. */
function fillOf(x: Exchange, market: Market, order: Order, trade: Trade, crossed: boolean, effect: Effect): NodeFill {
  const routed = order.builder !== null && (effect.builderFee ?? 0n) > 0n
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
    ...(routed ? { builderFee: formatAmount(effect.builderFee!) } : {}),
    tid: trade.tid,
    ...(order.cloid === null ? {} : { cloid: order.cloid }),
    ...(order.liquidation === null ? {} : { liquidation: order.liquidation }),
    ...(routed ? { builder: x.accounts[order.builder!.account]!.address } : {}),
    feeToken: effect.feeToken,
    ...((effect.deployerFee ?? 0n) > 0n ? { deployerFee: formatAmount(effect.deployerFee!) } : {}),
    twapId: order.twapId,
  }
}
