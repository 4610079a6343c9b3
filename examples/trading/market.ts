// The steps of prices and sizes of a market. The exchange accepts prices with at most five significant digits and
// `6 - szDecimals` decimals (spot: `8 - szDecimals`). Integers are always accepted.

import { Big } from 'big.js'
// In your own project, import from '@weir/client'.
import type { WeirClient } from '../../src/client/create-client.client.ts'
import type { Side } from './venue.ts'

export type Market = { szDecimals: number; pxDecimals: number }

/** Fetches the steps of a perp or spot coin. Costs one info request. */
export async function fetchMarket(client: WeirClient, coin: string): Promise<Market> {
  const unknown = new Error(`${coin}: no such perp or spot market. Names are case-sensitive, such as BTC, xyz:GOLD, @1`)
  if (/^@|\//.test(coin)) {
    const { universe, tokens } = (await client.info('spotMeta')).data
    const base = universe.find(({ name }) => name === coin)?.tokens[0]
    const token = tokens.find(({ index }) => index === base)
    if (!token) throw unknown
    return { szDecimals: token.szDecimals, pxDecimals: 8 - token.szDecimals }
  }
  const [, dex] = /^(.+):/.exec(coin) ?? []
  const { universe } = (await client.info('meta', dex === undefined ? {} : { dex })).data
  const perp = universe.find(({ name }) => name === coin)
  if (!perp) throw unknown
  return { szDecimals: perp.szDecimals, pxDecimals: 6 - perp.szDecimals }
}

/** Rounds away from the other side: a bid down, an ask up. */
export function roundPx(px: Big, side: Side, { pxDecimals }: Market): string {
  const decimals = Math.max(0, Math.min(pxDecimals, 4 - px.e))
  return px.round(decimals, side === 'B' ? Big.roundDown : Big.roundUp).toFixed()
}

/** Rounds down. Zero if the amount is smaller than a step. */
export function roundSz(sz: Big, { szDecimals }: Market): string {
  return sz.round(szDecimals, Big.roundDown).toFixed()
}
