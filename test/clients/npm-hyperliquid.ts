// npm `hyperliquid`. It has no URL option, so its two built-in URLs are replaced in a copy of its file.

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

/** Suffixes of `subscribeTo`, with the channel and the arguments before the callback. */
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
/** These never call back on any server, because they use channels that the public server does not have. */
export const DEAF = ['UserEvents', 'ActiveSpotAssetCtx']

/** Its info methods and their arguments. */
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

/** Connects. Close its socket after use. */
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
  // It limits itself to a tenth of the public limit, which would take a minute here.
  Object.assign(sdk.rateLimiter, { capacity: 1e6, refillRate: 1e6 })
  await sdk.connect()
  // A call before that is done restarts it.
  await sdk.symbolConversion.initialize()
  return sdk
}

/** Rejects if the method does. */
export async function askNpm({ info }: Sdk, name: string, parameters: readonly unknown[]): Promise<void> {
  const [method, group] = name.split('.').reverse() as [string, 'perpetuals' | 'spot' | undefined]
  const owner = group ? info[group] : info
  await inTime(owner[method]!(...parameters))
}

/** Rejects if its callback gets nothing in time. */
export async function watchNpm({ subscriptions }: Sdk, name: string, cast: Cast): Promise<void> {
  const came = Promise.withResolvers<void>()
  for (const parameters of SUBSCRIPTIONS[name]![1](cast))
    await subscriptions[`subscribeTo${name}`]!(...parameters, (data: unknown) => {
      if (data === undefined) came.reject(new Error('called back with undefined'))
      came.resolve()
    })
  await inTime(came.promise)
}
