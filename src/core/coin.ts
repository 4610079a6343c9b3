// The grammar of coin names: what market a name belongs to, and which shard keeps its book.

import { hash32 } from './hash.ts'

export const MARKET_TYPES = ['perp', 'spot', 'outcome'] as const
export type MarketType = (typeof MARKET_TYPES)[number]

/** Name of a coin on the wire. A plain text is taken for one; an id of another kind is not. */
export type Coin = string & { readonly unit?: 'coin' }

/** Bound of a coin name on the wire; the longest real ones are about 20 characters. */
export const COIN_MAX_LENGTH = 64

/** `BTC`, `xyz:GOLD` are perps, `@107`, `PURR/USDC` spot, `#40` a side of an outcome market; any string has a type. */
export function marketTypeOf(coin: Coin): MarketType {
  if (coin.startsWith('#')) return 'outcome'
  if (coin.startsWith('@') || coin.includes('/')) return 'spot'
  return 'perp'
}

/** The main DEX's name where leaving the DEX out means all of them. */
export const MAIN_DEX = 'main_dex'

/** The builder-deployed DEX of a coin, or `''` for the main DEX, spot and outcomes. */
export function dexOf(coin: Coin): string {
  const colon = coin.indexOf(':')
  return colon > 0 ? coin.slice(0, colon) : ''
}

/** Shard of a coin among `shards` book hubs, stable across releases. */
export function shardOf(coin: Coin, shards: number): number {
  return hash32(coin) % shards
}
