// ccxt.pro's hyperliquid: its info requests and its subscriptions.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Cast, inTime } from './cast.ts'
import { MODULES } from './install.ts'

type Methods = Readonly<Record<string, (...parameters: unknown[]) => Promise<unknown>>>
interface Exchange {
  loadHttpProxyAgent(): Promise<unknown>
  loadMarkets(): Promise<unknown>
  watchTrades(symbol: string): Promise<unknown>
  /** Sends `message` unless a message with this hash was sent before. */
  watch(url: string, messageHash: string, message: object, subscribeHash: string): Promise<unknown>
  close(): Promise<void>
  readonly urls: { readonly api: { readonly ws: { readonly public: string } } }
}

export const PERP = 'BTC/USDC:USDC'
const SPOT = 'PURR/USDC'

/** Its subscriptions: the channel, the method, and its arguments. */
export const WATCHES: readonly (readonly [channel: string, method: string, ...parameters: unknown[]])[] = [
  ['l2Book', 'watchOrderBook', PERP],
  ['activeAssetCtx', 'watchTicker', PERP],
  ['activeAssetCtx', 'watchTicker', SPOT],
  ['allMids', 'watchTickers'],
  ['userFills', 'watchMyTrades'],
  ['trades', 'watchTrades', PERP],
  ['candle', 'watchOHLCV', PERP],
  ['clearinghouseState', 'watchBalance', { type: 'swap' }],
  ['spotState', 'watchBalance', { type: 'spot' }],
  ['clearinghouseState', 'watchPositions'],
  ['orderUpdates', 'watchOrders'],
]

export const fetchesOf = ({
  takers: [user],
  oid,
}: Cast): readonly (readonly [method: string, ...parameters: unknown[]])[] => [
  ['fetchStatus'],
  ['fetchTime'],
  ['fetchCurrencies'],
  ['fetchMarkets'],
  ['fetchBalance'],
  ['fetchBalance', { type: 'spot' }],
  ['fetchOrderBook', PERP],
  ['fetchOrderBook', SPOT],
  ['fetchTickers'],
  ['fetchFundingRate', PERP],
  ['fetchFundingRates'],
  ['fetchOHLCV', PERP],
  ['fetchTrades', PERP],
  ['fetchFundingRateHistory', PERP],
  ['fetchOpenOrders'],
  ['fetchClosedOrders'],
  ['fetchCanceledOrders'],
  ['fetchCanceledAndClosedOrders'],
  ['fetchOrders'],
  ['fetchOrder', String(oid), undefined, { user }],
  ['fetchMyTrades'],
  ['fetchPosition', PERP],
  ['fetchPositions'],
  ['fetchTradingFee', PERP],
  ['fetchLedger'],
  ['fetchDeposits'],
  ['fetchWithdrawals'],
  ['fetchOpenInterest', PERP],
  ['fetchOpenInterests'],
  ['fetchFundingHistory'],
]

/** Close it after use. */
export async function openCcxt({ url, maker }: Cast): Promise<Exchange> {
  const file = pathToFileURL(join(MODULES, 'ccxt/js/src/pro/hyperliquid.js')).href
  const { default: Hyperliquid } = (await import(file)) as { default: new (options: object) => Exchange }
  const api = { public: url, private: url, ws: { public: `${url.replace('http', 'ws')}/ws` } }
  const exchange = new Hyperliquid({ walletAddress: maker, urls: { api }, enableRateLimit: false })
  await exchange.loadHttpProxyAgent()
  await exchange.loadMarkets()
  return exchange
}

/** Rejects if the method does, or nothing arrives in time. */
export function callCcxt(exchange: Exchange, method: string, parameters: readonly unknown[]): Promise<unknown> {
  return inTime((exchange as unknown as Methods)[method]!(...parameters))
}
