// PnL summary of a wallet. Profits come from completed trades; volume and activity come from fills. The time window
// applies to both, but coins and account age cover all known data. A DEX filter applies only to trades and coins.

import Big from 'big.js'
import { type Coin, marketTypeOf } from '../core/coin.ts'
import { UNSIGNED_DECIMAL } from '../core/decimal.ts'
import { DAY_MS } from '../core/time.ts'
import type { Address, Fill } from '../protocol/feed/block.ts'
import { amountText } from './fill-amounts.ts'
import type { CompletedTrade } from './open-trade.ts'
import { filterTrades, isOnDex, isWithin, type TradePosition, type Window } from './trade-page.ts'

export interface PnlSummary {
  readonly user: Address
  readonly totalPnl: string
  readonly winRate: number
  readonly lossRate: number
  readonly totalTrades: number
  readonly omittedTrades: number
  readonly volumeTraded: string
  readonly totalFees: string
  readonly totalFunding: string
  readonly daysActive: number
  readonly accountAgeDays: number
  readonly tradedPairs: readonly string[]
}

/** Known data of a wallet up to `nowMs`, oldest first. */
interface TradingHistory {
  readonly user: Address
  readonly trades: readonly CompletedTrade[]
  readonly omitted: readonly TradePosition[]
  readonly fills: readonly Fill[]
  readonly nowMs: number
}

const RATE_DECIMALS = 4

/** Break-even trades count as losses; days are UTC. */
export function pnlSummary(
  { user, trades, omitted, fills, nowMs }: TradingHistory,
  scope: Window & { readonly dex?: string | undefined },
): PnlSummary {
  const counted = filterTrades(trades, scope)
  const wins = counted.filter(({ net_pnl }) => new Big(net_pnl).gt(0)).length
  const inWindow = fills.filter(({ time }) => isWithin(time, scope))
  const firstMs = fills[0]?.time ?? nowMs
  return {
    user,
    totalPnl: sumOf(counted.map(({ net_pnl }) => net_pnl)),
    ...ratesOf(wins, counted.length),
    totalTrades: counted.length,
    omittedTrades: filterTrades(omitted, scope).length,
    volumeTraded: volumeOf(inWindow),
    totalFees: sumOf(counted.map(({ fees }) => fees)),
    totalFunding: sumOf(counted.map(({ funding_pnl }) => funding_pnl)),
    daysActive: new Set(inWindow.map(({ time }) => Math.floor(time / DAY_MS))).size,
    accountAgeDays: Math.floor((nowMs - firstMs) / DAY_MS),
    tradedPairs: coinsOf(fills, scope.dex),
  }
}

function sumOf(amounts: readonly string[]): string {
  return amountText(amounts.reduce((sum, amount) => sum.plus(amount), new Big(0)))
}

/** Win and loss rates, which add up to one. */
function ratesOf(wins: number, all: number): { winRate: number; lossRate: number } {
  if (all === 0) return { winRate: 0, lossRate: 0 }
  const winRate = new Big(wins).div(all).round(RATE_DECIMALS)
  return { winRate: winRate.toNumber(), lossRate: new Big(1).minus(winRate).toNumber() }
}

function volumeOf(fills: readonly Fill[]): string {
  const known = fills.filter(({ px, sz }) => UNSIGNED_DECIMAL.test(px) && UNSIGNED_DECIMAL.test(sz))
  return amountText(known.reduce((sum, { px, sz }) => sum.plus(new Big(px).times(sz)), new Big(0)))
}

/** Coins in sorted order. A DEX has only perps. */
function coinsOf(fills: readonly Fill[], dex: string | undefined): string[] {
  const isAsked = (coin: Coin) => dex === undefined || (marketTypeOf(coin) === 'perp' && isOnDex(coin, dex))
  return [...new Set(fills.map(({ coin }) => coin).filter(isAsked))].sort()
}
