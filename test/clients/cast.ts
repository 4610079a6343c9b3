// Requests sent through every SDK, for wallets and coins with activity.

import { CHANNELS } from '../../src/relay/channels/catalogue.ts'

export interface Cast {
  /** Base URL with the key in its path. */
  readonly url: string
  /** A wallet with resting orders that are filled repeatedly. */
  readonly maker: string
  /** Wallets that trade, and sometimes transfer money. */
  readonly takers: readonly string[]
  /** Of an order of the first one. */
  readonly oid: number
  readonly vault: string
  readonly tokenId: string
  readonly spotCoin: string
}

export const PATIENCE_MS = 40_000

const SERVED: ReadonlySet<string> = new Set(CHANNELS.map(({ type }) => type))
export const isServed = (channel: string) => SERVED.has(channel)

/** Bodies of a channel without `type`. One of them must receive a frame. */
export function bodiesOf(channel: string, { maker, takers, spotCoin }: Cast): readonly object[] {
  switch (channel) {
    case 'allMids':
    case 'allDexsAssetCtxs':
    case 'assetCtxs':
    case 'fastAssetCtxs':
    case 'outcomeMetaUpdates':
    case 'spotAssetCtxs':
      return [{}]
    case 'activeAssetCtx':
    case 'bbo':
    case 'l2Book':
    case 'trades':
      return [{ coin: 'BTC' }]
    case 'activeSpotAssetCtx':
      return [{ coin: spotCoin }]
    case 'activeAssetData':
      return [{ coin: 'BTC', user: maker }]
    case 'candle':
      return [{ coin: 'BTC', interval: '1m' }]
    case 'userNonFundingLedgerUpdates':
      return takers.map((user) => ({ user }))
    default:
      return [{ user: maker }]
  }
}

type Failures = Readonly<Record<string, string>>

/** Runs all concurrently and returns the names of the failed ones. */
export async function failuresOf(runs: Readonly<Record<string, () => Promise<unknown>>>): Promise<Failures> {
  const failed = await Promise.all(
    Object.entries(runs).map(([name, run]) =>
      run().then(
        () => [],
        (error: unknown) => [[name, String(error).slice(0, 500)]],
      ),
    ),
  )
  return Object.fromEntries(failed.flat())
}

/** Rejects if the promise does not settle in time. */
export function inTime<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, PATIENCE_MS, new Error('no frame')).unref())
  return Promise.race([promise, late])
}
