// Market metadata as the public info queries show it, made from the tables of market.ts.

import { type Exchange, midPx } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { DEX_NAMES } from '../exchange/market.ts'
import { oiCap } from '../exchange/open-interest.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { BUILDERS } from '../exchange/roles.ts'
import { listedOn, QUIET_PXS } from './listing.ts'

/** Decimals of the tokens that have a number: USDC, PURR, HFUN. */
const TOKEN_DECIMALS = [
  { szDecimals: 8, weiDecimals: 8 },
  { szDecimals: 0, weiDecimals: 5 },
  { szDecimals: 2, weiDecimals: 8 },
]

const MADE_UP_DECIMALS = { szDecimals: 2, weiDecimals: 8 }

const oiCaps = (x: Exchange, dex: number) => listedOn(x, dex).map(({ coin }) => [coin, formatAmount(oiCap(coin))])
const ofEach = (x: Exchange, dex: number, amount: string) => listedOn(x, dex).map(({ coin }) => [coin, amount])

/** First element null for the main DEX. */
export function perpDexs(x: Exchange) {
  return x.scale.dexes.map((name, dex) =>
    dex === 0
      ? null
      : {
          name,
          fullName: `${name} perps`,
          deployer: x.accounts[BUILDERS[dex % BUILDERS.length]!]!.address,
          oracleUpdater: dex === 1 ? x.accounts[BUILDERS[0]!]!.address : null,
          feeRecipient: dex === 1 ? x.accounts[BUILDERS[dex]!]!.address : null,
          assetToStreamingOiCap: oiCaps(x, dex),
          subDeployers: dex === 1 ? [['setOracle', [x.accounts[BUILDERS[0]!]!.address]]] : [],
          assetToFundingMultiplier: ofEach(x, dex, '1.0'),
          assetToFundingInterestRate: ofEach(x, dex, '0.0'),
          assetToFundingClamp: ofEach(x, dex, '0.0005'),
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

const dexOfCoin = (coin: string) => Math.max(0, DEX_NAMES.indexOf(coin.split(':')[0]!))

/** Middle of every book of a DEX, or its last price; the main DEX has spot and outcomes too. */
export function allMids(x: Exchange, dex: number): Record<string, string> {
  const mids: Record<string, string> = {}
  for (const market of x.scale.markets)
    if (market.dex === dex) mids[market.coin] = formatAmount(midPx(x, market.id) ?? x.quotes[market.id]!.last)
  for (const [coin, px] of QUIET_PXS) if (dexOfCoin(coin) === dex) mids[coin] = px
  return mids
}
