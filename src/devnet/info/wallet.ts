// A wallet as the public info queries show it.

import { type Exchange, markPxs } from '../exchange/exchange.ts'
import { abs, formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { type Market, marketAt, TOKEN_NAMES } from '../exchange/market.ts'
import type { Order } from '../exchange/order.ts'
import type { Position } from '../exchange/position.ts'
import { emptyWallet, marginState, type Wallet } from '../exchange/wallet.ts'

/** The wallet of an address; one that nobody has seen has nothing. */
export function walletOf(x: Exchange, address: string): Wallet {
  return x.accounts[x.byAddress.get(address) ?? -1] ?? emptyWallet(-1, address, x.scale)
}

/** clearinghouseState of a wallet on one DEX (index). */
export function perpState(x: Exchange, wallet: Wallet, dex: number) {
  const margin = wallet.margin[dex]!
  const marks = markPxs(x)
  const state = marginState(margin, marks)
  const summary = {
    accountValue: formatAmount(state.value),
    totalNtlPos: formatAmount(state.ntl),
    totalRawUsd: formatAmount(margin.rawUsd),
    totalMarginUsed: formatAmount(state.used),
  }
  const free = state.value - state.used
  return {
    marginSummary: summary,
    crossMarginSummary: summary,
    crossMaintenanceMarginUsed: formatAmount(state.maintenance),
    withdrawable: formatAmount(free > 0n ? free : 0n),
    assetPositions: [...margin.positions].map(([id, position]) => ({
      type: 'oneWay',
      position: positionView(marketAt(id), position, marks[id]!, state.value - state.maintenance),
    })),
    time: x.block.timeMs,
  }
}

/** `spare`: what the account can lose before it is liquidated. */
function positionView(market: Market, position: Position, mark: bigint, spare: bigint) {
  const size = abs(position.szi)
  const value = (size * mark) / UNIT
  const pnl = (position.szi > 0n ? value : -value) - position.cost
  const used = value / BigInt(position.leverage)
  const entryMargin = abs(position.cost) / BigInt(position.leverage)
  const funding = formatAmount(position.fundingSinceOpen)
  return {
    coin: market.coin,
    szi: formatAmount(position.szi),
    leverage: { type: 'cross', value: position.leverage },
    entryPx: formatAmount((abs(position.cost) * UNIT) / size),
    positionValue: formatAmount(value),
    unrealizedPnl: formatAmount(pnl),
    returnOnEquity: formatAmount(entryMargin === 0n ? 0n : (pnl * UNIT) / entryMargin),
    liquidationPx: liquidationPx(market, position, mark, spare),
    marginUsed: formatAmount(used),
    maxLeverage: market.maxLeverage,
    cumFunding: { allTime: funding, sinceOpen: funding, sinceChange: formatAmount(position.fundingSinceChange) },
  }
}

/** Price of this coin alone at which the account has no spare margin left; null where there is none above zero. */
function liquidationPx(market: Market, { szi }: Position, mark: bigint, spare: bigint): string | null {
  const parts = BigInt(2 * market.maxLeverage)
  const perUnit = (spare * UNIT) / abs(szi)
  const px = szi > 0n ? mark - (perUnit * parts) / (parts - 1n) : mark + (perUnit * parts) / (parts + 1n)
  return px > 0n ? formatAmount(px) : null
}

/** spotClearinghouseState of a wallet: the tokens it has, USDC always. */
export function spotState(wallet: Wallet) {
  const balances = wallet.spot.flatMap(({ total, hold, cost }, token) => {
    if (total === 0n && token > 0) return []
    const amounts = {
      total: formatAmount(total),
      hold: formatAmount(hold),
      entryNtl: formatAmount(token > 0 ? cost : 0n),
    }
    // Outcome shares have no token number on the wire.
    return [
      TOKEN_NAMES[token]!.startsWith('+')
        ? { coin: TOKEN_NAMES[token]!, ...amounts }
        : { coin: TOKEN_NAMES[token]!, token, ...amounts },
    ]
  })
  return { balances }
}

/** The wallet's resting orders of one DEX, newest first; the main DEX has those of spot and outcomes too. */
export function ordersOnDex(wallet: Wallet, dex: number): Order[] {
  const orders = wallet.orders.flatMap((sides, id) => (marketAt(id).dex === dex ? sides.flat() : []))
  return orders.sort((a, b) => b.oid - a.oid)
}

/** openOrders of a wallet on one DEX. */
export function openOrders(wallet: Wallet, dex: number) {
  return ordersOnDex(wallet, dex).map((order) => ({
    coin: marketAt(order.market).coin,
    side: order.side,
    limitPx: order.pxText,
    sz: formatAmount(order.sz),
    oid: order.oid,
    timestamp: order.timestampMs,
    origSz: formatAmount(order.origSz),
    ...(order.cloid === null ? {} : { cloid: order.cloid }),
  }))
}
