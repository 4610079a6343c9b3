// Answers about the exchange itself: its markets, limits and clock.

import { type Exchange, markPxs } from '../exchange/exchange.ts'
import { formatAmount, notional, units } from '../exchange/fixed-point.ts'
import { marketAt, OUTCOME_SIDES, perpsOf } from '../exchange/market.ts'
import { oiCap } from '../exchange/open-interest.ts'
import { BUILDERS } from '../exchange/roles.ts'
import { marginState } from '../exchange/wallet.ts'
import { dexIndex, listedMarket, NOTHING, ofDex, type SomeAnswers } from './answer.ts'
import { l2Levels } from './l2.ts'
import { listedOn, marginTable, meta, outcomeMeta, QUIET_PXS } from './listing.ts'
import { allMids, perpDexs, spotMeta } from './market.ts'
import { perpState, walletOf } from './wallet.ts'

/** Leverage and USDC: the largest market order of a market, highest leverage first. */
const MARKET_ORDER_NTLS = [
  [40, '30000000.0'],
  [25, '15000000.0'],
  [20, '5000000.0'],
  [10, '2000000.0'],
  [5, '500000.0'],
]

const TRADED_OUTCOME = Math.floor(Number(marketAt(OUTCOME_SIDES[0]).coin.slice(1)) / 10)

/** Null for the main DEX and for names that no DEX has. */
function perpDexLimits(x: Exchange, name: string) {
  const dex = dexIndex(x, name)
  if (dex <= 0) return null
  const caps = listedOn(x, dex).map(({ coin }) => [coin, oiCap(coin)] as const)
  return {
    totalOiCap: formatAmount(caps.reduce((sum, [, cap]) => sum + cap, 0n)),
    oiSzCapPerPerp: '1000000000.0',
    maxTransferNtl: formatAmount(units(1_000_000_000)),
    coinToOiCap: caps.map(([coin, cap]) => [coin, formatAmount(cap)]),
  }
}

/** Number of a perp on the wire. */
function assetOf(x: Exchange, id: number): number {
  const { dex } = marketAt(id)
  const index = perpsOf(dex, x.scale.markets).findIndex((market) => market.id === id)
  return dex === 0 ? index : 100_000 + dex * 10_000 + index
}

/** Wallets that the next blocks will liquidate. The wire is known for isolated positions only, so the largest names a cross account. */
function liquidatable(x: Exchange) {
  const marks = markPxs(x)
  return x.accounts.flatMap((wallet) =>
    wallet.margin.flatMap((margin) => {
      const { value, maintenance } = marginState(margin, marks)
      if (margin.positions.size === 0 || value >= maintenance || wallet.index === x.vaults[0]?.account) return []
      const size = (id: number, szi: bigint) => notional(marks[id]!, szi < 0n ? -szi : szi)
      const [asset] = [...margin.positions].reduce((a, b) => (size(b[0], b[1].szi) > size(a[0], a[1].szi) ? b : a))
      const missing = Number(value - maintenance) / 1e8
      return [
        {
          user: wallet.address,
          positionIndex: { isolated: { asset: assetOf(x, asset) } },
          marginAvailable: [missing, missing],
        },
      ]
    }),
  )
}

/** A coin that does not exist has a book of null, a table that does not exist is nothing. */
export const META_ANSWERS = {
  meta: ofDex(({ exchange }, dex) => meta(exchange, dex)),
  allPerpMetas: ({ exchange }) => exchange.scale.dexes.map((_name, dex) => meta(exchange, dex)),
  perpDexs: ({ exchange }) => perpDexs(exchange),
  perpDexLimits: ({ exchange }, { dex }) => perpDexLimits(exchange, dex),
  spotMeta: ({ exchange }) => spotMeta(exchange),
  outcomeMeta: ({ exchange: x }) => outcomeMeta(TRADED_OUTCOME, x.accounts[BUILDERS[0]!]!.address),
  marginTable: ofDex(
    (_scene, _dex, { id }: { readonly dex: string; readonly id: number }) => marginTable(id) ?? NOTHING,
  ),
  maxMarketOrderNtls: () => MARKET_ORDER_NTLS,
  allMids: ofDex(({ exchange }, dex) => allMids(exchange, dex)),
  l2Book: ({ exchange: x }, { coin, nSigFigs, mantissa }) => {
    const market = listedMarket(x, coin)
    if (QUIET_PXS.has(coin)) return { coin, time: x.block.timeMs, levels: [[], []] }
    if (market === undefined) return null
    const levels = l2Levels(x.books[market.id]!, nSigFigs ?? null, mantissa ?? 1)
    return { coin, time: x.block.timeMs, levels }
  },
  exchangeStatus: ({ exchange }) => ({ specialStatuses: null, time: exchange.block.timeMs }),
  liquidatable: ({ exchange }) => liquidatable(exchange),
  clearinghouseState: ofDex(({ exchange }, dex, { user }: { readonly dex: string; readonly user: string }) =>
    perpState(exchange, walletOf(exchange, user), dex),
  ),
} satisfies SomeAnswers
