// Syntax of coin names: the market type of a name, and the shard of its book.

import { hash32 } from './hash.ts'

export const MARKET_TYPES = ['perp', 'spot', 'outcome'] as const
export type MarketType = (typeof MARKET_TYPES)[number]

/** Coin name on the wire. Accepts a plain string, but not another kind of id. */
export type Coin = string & { readonly unit?: 'coin' }

/** Maximum length of a coin name; the longest real ones have about 20 characters. */
export const COIN_MAX_LENGTH = 64

/**
 * `BTC` and `xyz:GOLD` are perps, `@107` and `PURR/USDC` spot, `#40` one side of an outcome market. Every string has a
 * type.
 */
export function marketTypeOf(coin: Coin): MarketType {
  if (coin.startsWith('#')) return 'outcome'
  if (coin.startsWith('@') || coin.includes('/')) return 'spot'
  return 'perp'
}

/** Name of the main DEX where an absent DEX means all of them. */
export const MAIN_DEX = 'main_dex'

/** Builder-deployed DEX of a coin; `''` for the main DEX, spot and outcomes. */
export function dexOf(coin: Coin): string {
  const colon = coin.indexOf(':')
  return colon > 0 ? coin.slice(0, colon) : ''
}

/** Shard of a coin among `shards` book hubs, stable across releases. */
export function shardOf(coin: Coin, shards: number): number {
  return hash32(coin) % shards
}
