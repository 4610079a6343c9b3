// What is traded and paid: last trades, TWAP orders, funding, what a wallet can trade, what lies on a DEX.

import { type Exchange, markPx } from '../exchange/exchange.ts'
import { amountOf, formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { fundingRate } from '../exchange/funding.ts'
import { type Market, perpsOf } from '../exchange/market.ts'
import { BLOCK_MS } from '../exchange/staking.ts'
import { listedMarket, NOTHING, ofDex, type SomeAnswers } from './answer.ts'
import { type ListedPerp, QUIET_PXS, quietPerp } from './listing.ts'
import { perpState, walletOf } from './wallet.ts'

const MAX_FUNDINGS = 500

/** Other exchanges are not simulated: there is nothing of them. */
function predicted(x: Exchange, { id, coin }: Market) {
  const blocks = x.fundingBlocks - (x.height % x.fundingBlocks)
  const ours = {
    fundingRate: formatAmount(fundingRate(x, id)),
    nextFundingTime: x.block.timeMs + blocks * BLOCK_MS,
    fundingIntervalHours: 1,
  }
  return [
    coin,
    [
      ['BinPerp', null],
      ['HlPerp', ours],
      ['BybitPerp', null],
    ],
  ]
}

/** Free margin, and the size that it carries at the leverage chosen: the same to buy and to sell. */
function assetData(x: Exchange, user: string, market: ListedPerp, mark: bigint) {
  const wallet = walletOf(x, user)
  const { assetPositions, withdrawable } = perpState(x, wallet, market.dex)
  const held = assetPositions.find(({ position }) => position.coin === market.coin)
  const leverage = held?.position.leverage ?? { type: 'cross', value: market.maxLeverage }
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

/** Positions add up to nothing, so what wallets have in cash is what was paid in. */
function netDeposit(x: Exchange, dex: number): string {
  return formatAmount(x.accounts.reduce((sum, { margin }) => sum + margin[dex]!.rawUsd, 0n))
}

/** Trades and orders newest first, funding oldest first. A coin that does not exist is nothing. */
export const TRADING_ANSWERS = {
  recentTrades: ({ exchange, past }, { coin }) =>
    listedMarket(exchange, coin) === undefined && !QUIET_PXS.has(coin) ? NOTHING : past.tape.of(coin),
  twapHistory: ({ past }, { user }) => past.twaps.of(user),
  userFunding: ({ past }, { user, startTime, endTime }) => {
    const from = startTime ?? 0
    const to = endTime ?? Number.POSITIVE_INFINITY
    const rows = past.payments.of(user).filter(({ time }) => time >= from && time <= to)
    return rows.slice(0, MAX_FUNDINGS)
  },
  predictedFundings: ({ exchange }) => perpsOf(0, exchange.scale.markets).map((market) => predicted(exchange, market)),
  activeAssetData: ({ exchange }, { user, coin }) => {
    const market = listedMarket(exchange, coin)
    if (market?.kind === 'perp') return assetData(exchange, user, market, markPx(exchange, market.id))
    const quiet = quietPerp(coin)
    return quiet === undefined ? NOTHING : assetData(exchange, user, quiet, amountOf(quiet.px))
  },
  perpDexStatus: ofDex(({ exchange }, dex) => ({ totalNetDeposit: netDeposit(exchange, dex) })),
} satisfies SomeAnswers
