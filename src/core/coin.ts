// The syntax of coin names. A name determines the coin's market type and the shard of its book.

import { hash32 } from './hash.ts'

export const MARKET_TYPES = ['perp', 'spot', 'outcome'] as const
export type MarketType = (typeof MARKET_TYPES)[number]

/** A coin name on the wire. The type accepts a plain string, but not a different kind of ID. */
export type Coin = string & { readonly unit?: 'coin' }

/** Maximum length of a coin name. The longest real names have about 20 characters. */
export const COIN_MAX_LENGTH = 64

/**
 * `BTC` and `xyz:GOLD` are perps, `@107` and `PURR/USDC` are spot, and `#40` is one side of an outcome market. Every
 * string has a market type.
 */
export function marketTypeOf(coin: Coin): MarketType {
  if (coin.startsWith('#')) return 'outcome'
  if (coin.startsWith('@') || coin.includes('/')) return 'spot'
  return 'perp'
}

/** The name that selects the main DEX where an absent DEX means all DEXes. */
export const MAIN_DEX = 'main_dex'

/** The builder-deployed DEX of a coin; `''` for coins of the main DEX, spot and outcomes. */
export function dexOf(coin: Coin): string {
  const colon = coin.indexOf(':')
  return colon > 0 ? coin.slice(0, colon) : ''
}

/** The shard of a coin if there are `shards` book hubs. It is the same in all releases. */
export function shardOf(coin: Coin, shards: number): number {
  return hash32(coin) % shards
}
