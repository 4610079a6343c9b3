// Handlers for a wallet's current state: positions, balances, resting orders, trading limits and role.

import { type Exchange, markPx, markPxs } from '../exchange/exchange.ts'
import { abs, amountOf, formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { type Market, marketAt, TOKEN_NAMES, USDC } from '../exchange/market.ts'
import { frontendOrder, type Order } from '../exchange/order.ts'
import { abstractionOf, builderOf, isIsolated, isMaker } from '../exchange/roles.ts'
import { twapState } from '../exchange/twap.ts'
import { emptyWallet, marginState, type Position, type Wallet } from '../exchange/wallet.ts'
import { forDex, type InfoHandlers, listedMarket, NOT_FOUND } from './handler.ts'
import { inactivePerp, type ListedPerp } from './listing.ts'

/** The wallet of an address. An unknown address has an empty wallet. */
export function walletOf(x: Exchange, address: string): Wallet {
  return x.accounts[x.byAddress.get(address) ?? -1] ?? emptyWallet(-1, address, x.scale)
}

const NO_MARGIN = { accountValue: '0.0', totalNtlPos: '0.0', totalRawUsd: '0.0', totalMarginUsed: '0.0' }

/** clearinghouseState of a wallet on one DEX (index). */
export function perpState(x: Exchange, wallet: Wallet, dex: number) {
  const margin = wallet.margin[dex]!
  const marks = markPxs(x)
  const state = marginState(margin, marks)
  // An isolated position uses all of the account's margin.
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

/**
 * A position as the API shows it. `spare`: amount that the account can lose before liquidation. `rawUsd`: cash of an
 * isolated position; otherwise null.
 */
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

/** Price of this coin at which the account has no spare margin left; null if it is not positive. */
function liquidationPx(market: Market, { szi }: Position, mark: bigint, spare: bigint): string | null {
  const parts = BigInt(2 * market.maxLeverage)
  const perUnit = (spare * UNIT) / abs(szi)
  const px = szi > 0n ? mark - (perUnit * parts) / (parts - 1n) : mark + (perUnit * parts) / (parts + 1n)
  return px > 0n ? formatAmount(px) : null
}

const isShare = (token: number) => TOKEN_NAMES[token]!.startsWith('+')

/** spotClearinghouseState of a wallet: its nonzero balances, and always USDC. */
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

/**
 * Outcome shares have no token number on the wire. A wallet with portfolio margin lends USDC and never borrows here.
 */
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

/** The wallet's resting orders on one DEX, newest first. The main DEX includes spot and outcomes. */
function ordersOnDex(wallet: Wallet, dex: number): Order[] {
  const orders = wallet.orders.flatMap((sides, id) => (marketAt(id).dex === dex ? sides.flat() : []))
  return orders.sort((a, b) => b.oid - a.oid)
}

/** frontendOpenOrders of a wallet on one DEX. */
export function openOrdersOnDex(wallet: Wallet, dex: number) {
  return ordersOnDex(wallet, dex).map(frontendOrder)
}

function openOrders(wallet: Wallet, dex: number) {
  return openOrdersOnDex(wallet, dex).map(({ coin, side, limitPx, sz, oid, timestamp, origSz, cloid }) => {
    const row = { coin, side, limitPx, sz, oid, timestamp, origSz }
    return cloid === null ? row : { ...row, cloid }
  })
}

/** The wallet's active TWAP orders. */
export function twapsOf(x: Exchange, user: string) {
  return x.twaps
    .filter(({ owner }) => x.accounts[owner]!.address === user)
    .map((twap) => [twap.id, twapState(x, twap)] as const)
}

/** Free margin, and the size that it allows at the chosen leverage, which is the same for buying and selling. */
function assetData(x: Exchange, user: string, market: ListedPerp, mark: bigint) {
  const wallet = walletOf(x, user)
  const { assetPositions, withdrawable } = perpState(x, wallet, market.dex)
  const open = assetPositions.find(({ position }) => position.coin === market.coin)
  const leverage = open?.position.leverage ?? { type: 'cross', value: market.maxLeverage }
  const lot = 10n ** BigInt(8 - market.szDecimals)
  const lots = (amountOf(withdrawable) * BigInt(leverage.value) * UNIT) / mark / lot
  const size = formatAmount(lots * lot)
  return {
    user,
    coin: market.coin,
    leverage,
    maxTradeSzs: [size, size],
    availableToTrade: [withdrawable, withdrawable],
    markPx: formatAmount(mark),
  }
}

function role(x: Exchange, address: string) {
  const index = x.byAddress.get(address)
  if (index === undefined) return { role: 'missing' }
  return { role: x.vaults.some(({ account }) => account === index) ? 'vault' : 'user' }
}

/** A taker's approved builder fee, in tenths of a basis point; it always trades through the same builder. */
function builderFee(x: Exchange, user: string, builder: string): number {
  const index = x.byAddress.get(user) ?? -1
  const approved = isMaker(index) ? null : builderOf(index)
  return approved !== null && x.accounts[approved.account]!.address === builder ? approved.f : 0
}

/** The main DEX includes orders of spot and outcomes. An unknown wallet is treated as empty. */
export const WALLET_HANDLERS: InfoHandlers = {
  clearinghouseState: forDex(({ exchange }, dex, { user }) => perpState(exchange, walletOf(exchange, user), dex)),
  spotClearinghouseState: ({ exchange }, { user }) => spotState(exchange, walletOf(exchange, user)),
  openOrders: forDex(({ exchange }, dex, { user }) => openOrders(walletOf(exchange, user), dex)),
  frontendOpenOrders: forDex(({ exchange }, dex, { user }) => openOrdersOnDex(walletOf(exchange, user), dex)),
  activeAssetData: ({ exchange }, { user, coin }) => {
    const market = listedMarket(exchange, coin)
    if (market?.kind === 'perp') return assetData(exchange, user, market, markPx(exchange, market.id))
    const quiet = inactivePerp(coin)
    return quiet === undefined ? NOT_FOUND : assetData(exchange, user, quiet, amountOf(quiet.px))
  },
  userRole: ({ exchange }, { user }) => role(exchange, user),
  userAbstraction: ({ exchange: x }, { user }) => abstractionOf(x.byAddress.get(user) ?? -1),
  maxBuilderFee: ({ exchange }, { user, builder }) => builderFee(exchange, user, builder),
}
