// Market metadata as the public info queries show it, made from the tables of market.ts.

import { type Exchange, midPx } from '../exchange/exchange.ts'
import { formatAmount, units } from '../exchange/fixed-point.ts'
import { perpsOf } from '../exchange/market.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { BUILDERS } from '../exchange/roles.ts'

/** Decimals of the tokens that have a number: USDC, PURR, HFUN. */
const TOKEN_DECIMALS = [
  { szDecimals: 8, weiDecimals: 8 },
  { szDecimals: 0, weiDecimals: 5 },
  { szDecimals: 2, weiDecimals: 8 },
]

const MADE_UP_DECIMALS = { szDecimals: 2, weiDecimals: 8 }

/** `meta` of one DEX (index). Table ids below 50 are their own leverage, so no table is listed. */
export function meta(x: Exchange, dex: number) {
  const universe = perpsOf(dex, x.scale.markets).map(({ coin, szDecimals, maxLeverage }) => ({
    szDecimals,
    name: coin,
    maxLeverage,
    marginTableId: maxLeverage,
  }))
  return { universe, marginTables: [], collateralToken: 0 }
}

/** What each perp of a DEX may be open at most, USDC. */
export const OI_CAP = units(100_000_000)
const oiCaps = (x: Exchange, dex: number) =>
  perpsOf(dex, x.scale.markets).map(({ coin }) => [coin, formatAmount(OI_CAP)])

/** First element null for the main DEX. */
export function perpDexs(x: Exchange) {
  return x.scale.dexes.map((name, dex) =>
    dex === 0
      ? null
      : {
          name,
          fullName: `${name} perps`,
          deployer: x.accounts[BUILDERS[dex % BUILDERS.length]!]!.address,
          oracleUpdater: null,
          feeRecipient: null,
          assetToStreamingOiCap: oiCaps(x, dex),
          subDeployers: [],
          deployerFeeScale: '1.0',
          lastDeployerFeeScaleChangeTime: '1970-01-01T00:00:00',
          assetToFundingMultiplier: perpsOf(dex, x.scale.markets).map(({ coin }) => [coin, '1.0']),
          assetToFundingInterestRate: perpsOf(dex, x.scale.markets).map(({ coin }) => [coin, '0.0']),
        },
  )
}

/** Tokens without outcome shares, and the pairs in index order. */
export function spotMeta({ scale }: Pick<Exchange, 'scale'>) {
  const spots = scale.markets.filter(({ kind }) => kind === 'spot')
  return {
    universe: spots.map(({ coin, token }, index) => ({
      tokens: [token, 0],
      name: coin,
      index,
      isCanonical: index === 0,
    })),
    tokens: scale.tokens.flatMap((name, index) =>
      name.startsWith('+')
        ? []
        : [
            {
              name,
              ...(TOKEN_DECIMALS[index] ?? MADE_UP_DECIMALS),
              index,
              tokenId: `0x${new Prng(seedState(index)).hex(16)}`,
              isCanonical: index < 2,
              evmContract: null,
              fullName: null,
              deployerTradingFeeShare: '0.0',
            },
          ],
    ),
  }
}

/** Middle of every book of a DEX, or its last price; the main DEX has spot and outcomes too. */
export function allMids(x: Exchange, dex: number): Record<string, string> {
  const mids: Record<string, string> = {}
  for (const market of x.scale.markets)
    if (market.dex === dex) mids[market.coin] = formatAmount(midPx(x, market.id) ?? x.quotes[market.id]!.last)
  return mids
}
