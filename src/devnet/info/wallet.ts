// A wallet as the public info queries show it.

import { type Exchange, markPxs } from '../exchange/exchange.ts'
import { abs, formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { type Market, marketAt, TOKEN_NAMES, USDC } from '../exchange/market.ts'
import type { Order } from '../exchange/order.ts'
import type { Position } from '../exchange/position.ts'
import { abstractionOf, isIsolated } from '../exchange/roles.ts'
import { emptyWallet, marginState, type Wallet } from '../exchange/wallet.ts'

/** The wallet of an address; one that nobody has seen has nothing. */
export function walletOf(x: Exchange, address: string): Wallet {
  return x.accounts[x.byAddress.get(address) ?? -1] ?? emptyWallet(-1, address, x.scale)
}

const NO_MARGIN = { accountValue: '0.0', totalNtlPos: '0.0', totalRawUsd: '0.0', totalMarginUsed: '0.0' }

/** clearinghouseState of a wallet on one DEX (index). */
export function perpState(x: Exchange, wallet: Wallet, dex: number) {
  const margin = wallet.margin[dex]!
  const marks = markPxs(x)
  const state = marginState(margin, marks)
  // An isolated position has all that the account has.
  const isolated = isIsolated(wallet.index) && margin.positions.size > 0
  const used = isolated ? state.value : state.used
  const summary = {
    accountValue: formatAmount(state.value),
    totalNtlPos: formatAmount(state.ntl),
    totalRawUsd: formatAmount(margin.rawUsd),
    totalMarginUsed: formatAmount(used),
  }
  const free = state.value - used
  const rawUsd = isolated ? margin.rawUsd : null
  return {
    marginSummary: summary,
    crossMarginSummary: isolated ? NO_MARGIN : summary,
    crossMaintenanceMarginUsed: formatAmount(isolated ? 0n : state.maintenance),
    withdrawable: formatAmount(free > 0n ? free : 0n),
    assetPositions: [...margin.positions].map(([id, position]) => ({
      type: 'oneWay',
      position: positionView(marketAt(id), position, marks[id]!, state.value - state.maintenance, rawUsd),
    })),
    time: x.block.timeMs,
  }
}

/** `spare`: what the account can lose before it is liquidated. `rawUsd`: the cash of an isolated position, else null. */
function positionView(market: Market, position: Position, mark: bigint, spare: bigint, rawUsd: bigint | null) {
  const size = abs(position.szi)
  const value = (size * mark) / UNIT
  const signedValue = position.szi > 0n ? value : -value
  const pnl = signedValue - position.cost
  const used = rawUsd === null ? value / BigInt(position.leverage) : signedValue + rawUsd
  const entryMargin = abs(position.cost) / BigInt(position.leverage)
  const funding = formatAmount(position.fundingSinceOpen)
  return {
    coin: market.coin,
    szi: formatAmount(position.szi),
    leverage:
      rawUsd === null
        ? { type: 'cross', value: position.leverage }
        : { type: 'isolated', value: position.leverage, rawUsd: formatAmount(rawUsd) },
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

const isShare = (token: number) => TOKEN_NAMES[token]!.startsWith('+')

/** spotClearinghouseState of a wallet: the tokens it has, USDC always. */
export function spotState(x: Exchange, wallet: Wallet) {
  const abstraction = abstractionOf(wallet.index)
  const lends = abstraction === 'portfolioMargin'
  const balances = wallet.spot.flatMap((balance, token) =>
    balance.total === 0n && token > 0 ? [] : [balanceView(balance, token, lends)],
  )
  const tokenToAvailableAfterMaintenance = wallet.spot.flatMap(({ total, hold }, token) =>
    isShare(token) || (total === 0n && token > 0) ? [] : [[token, formatAmount(total - hold)]],
  )
  if (abstraction === 'unifiedAccount') return { balances, tokenToAvailableAfterMaintenance }
  if (!lends) return { balances }
  const { value, maintenance } = marginState(wallet.margin[0]!, markPxs(x))
  return {
    portfolioMarginEnabled: true,
    balances,
    portfolioMarginRatio: formatAmount(value > 0n ? (maintenance * UNIT) / value : 0n),
    tokenToPortfolioBorrowRatio: [[USDC, '0.0']],
    tokenToPortfolioSupplyRatio: [[USDC, '1.0']],
    tokenToAvailableAfterMaintenance,
  }
}

/** Outcome shares have no token number on the wire. Who has portfolio margin lends USDC, and borrows nothing here. */
function balanceView({ total, hold, cost }: Wallet['spot'][number], token: number, lends: boolean) {
  const coin = TOKEN_NAMES[token]!
  const amounts = {
    total: formatAmount(total),
    hold: formatAmount(hold),
    entryNtl: formatAmount(token > 0 ? cost : 0n),
  }
  if (isShare(token)) return { coin, ...amounts }
  if (!lends) return { coin, token, ...amounts }
  const isLent = token === USDC
  const ltv = isLent ? '1.0' : '0.0'
  const supplied = isLent ? amounts.total : '0.0'
  return { coin, token, ...amounts, spotHold: amounts.hold, ltv, borrowed: '0.0', supplied }
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
