// npm `hyperliquid`. It has no option for a URL: the two that it was built with are replaced in a copy of its one file.

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Cast, inTime } from './cast.ts'
import { MODULES } from './install.ts'

type Methods = Record<string, (...parameters: unknown[]) => Promise<unknown>>
interface Sdk {
  readonly info: Methods & { readonly perpetuals: Methods; readonly spot: Methods }
  readonly subscriptions: Methods
  readonly ws: { close(forGood: boolean): void }
  readonly rateLimiter: object
  readonly symbolConversion: { initialize(): Promise<void> }
  connect(): Promise<void>
}

/** What follows `subscribeTo`, each with the channel that it needs and what it is given before its callback. */
export const SUBSCRIPTIONS: Readonly<Record<string, readonly [channel: string, (cast: Cast) => readonly string[][]]>> =
  {
    AllMids: ['allMids', () => [[]]],
    Notification: ['notification', ({ maker }) => [[maker]]],
    WebData2: ['webData2', ({ maker }) => [[maker]]],
    Candle: ['candle', () => [['BTC-PERP', '1m']]],
    L2Book: ['l2Book', () => [['BTC-PERP']]],
    Trades: ['trades', () => [['BTC-PERP']]],
    OrderUpdates: ['orderUpdates', ({ maker }) => [[maker]]],
    UserFills: ['userFills', ({ maker }) => [[maker]]],
    UserFundings: ['userFundings', ({ maker }) => [[maker]]],
    UserNonFundingLedgerUpdates: ['userNonFundingLedgerUpdates', ({ takers }) => takers.map((user) => [user])],
    UserActiveAssetData: ['activeAssetData', ({ maker }) => [[maker, 'BTC']]],
    ActiveAssetCtx: ['activeAssetCtx', () => [['BTC-PERP']]],
    UserTwapSliceFills: ['userTwapSliceFills', ({ maker }) => [[maker]]],
    Bbo: ['bbo', () => [['BTC-PERP']]],
    UserTwapHistory: ['userTwapHistory', ({ maker }) => [[maker]]],
  }
/** Of these it never tells, wherever it is connected: it waits on a channel, or asks for one, that the public server has not. */
export const DEAF = ['UserEvents', 'ActiveSpotAssetCtx']

/** Methods of its info, and what they are given. */
export const INFO = (cast: Cast): Readonly<Record<string, readonly unknown[]>> => ({
  getAllMids: [],
  getUserOpenOrders: [cast.maker],
  getFrontendOpenOrders: [cast.maker],
  getUserFills: [cast.maker],
  getUserFillsByTime: [cast.maker, 0],
  getUserRateLimit: [cast.maker],
  getOrderStatus: [cast.takers[0], cast.oid],
  getL2Book: ['BTC-PERP'],
  getCandleSnapshot: ['BTC-PERP', '1m', 0, Date.now()],
  getHistoricalOrders: [cast.maker],
  getUserTwapSliceFills: [cast.maker],
  getUserVaultEquities: [cast.maker],
  getUserRole: [cast.maker],
  getDelegations: [cast.maker],
  getDelegatorSummary: [cast.maker],
  userFees: [cast.maker],
  portfolio: [cast.maker],
  referral: [cast.maker],
  extraAgents: [cast.maker],
  'perpetuals.getMeta': [],
  'perpetuals.getMetaAndAssetCtxs': [],
  'perpetuals.getClearinghouseState': [cast.maker],
  'perpetuals.getUserFunding': [cast.maker, 0],
  'perpetuals.getUserNonFundingLedgerUpdates': [cast.maker, 0],
  'perpetuals.getFundingHistory': ['BTC-PERP', 0],
  'perpetuals.getPredictedFundings': [],
  'perpetuals.getPerpsAtOpenInterestCap': [],
  'spot.getSpotMeta': [],
  'spot.getSpotClearinghouseState': [cast.maker],
  'spot.getSpotMetaAndAssetCtxs': [],
  'spot.getTokenDetails': [cast.tokenId],
  'spot.getSpotDeployState': [cast.maker],
})

/** Connects; close its socket. */
export async function openNpm({ url }: Cast): Promise<Sdk> {
  const dist = join(MODULES, 'hyperliquid/dist')
  const built = readFileSync(join(dist, 'index.js'), 'utf8')
  const pointed = built
    .replaceAll('https://api.hyperliquid.xyz', url)
    .replaceAll('wss://api.hyperliquid.xyz', url.replace('http', 'ws'))
  writeFileSync(join(dist, 'pointed.js'), pointed)
  const { Hyperliquid } = createRequire(import.meta.url)(join(dist, 'pointed.js')) as {
    Hyperliquid: new (options: object) => Sdk
  }
  const sdk = new Hyperliquid({ disableAssetMapRefresh: true })
  // It keeps to a tenth of what the public server allows, which is a minute for these tests.
  Object.assign(sdk.rateLimiter, { capacity: 1e6, refillRate: 1e6 })
  await sdk.connect()
  // Whoever comes before that has begins it again.
  await sdk.symbolConversion.initialize()
  return sdk
}

/** Rejects where the method does. */
export async function askNpm({ info }: Sdk, name: string, parameters: readonly unknown[]): Promise<void> {
  const [method, group] = name.split('.').reverse() as [string, 'perpetuals' | 'spot' | undefined]
  const owner = group ? info[group] : info
  await inTime(owner[method]!(...parameters))
}

/** Rejects where its callback is not called with something in time. */
export async function watchNpm({ subscriptions }: Sdk, name: string, cast: Cast): Promise<void> {
  const came = Promise.withResolvers<void>()
  for (const parameters of SUBSCRIPTIONS[name]![1](cast))
    await subscriptions[`subscribeTo${name}`]!(...parameters, (data: unknown) => {
      if (data === undefined) came.reject(new Error('called back with undefined'))
      came.resolve()
    })
  await inTime(came.promise)
}
