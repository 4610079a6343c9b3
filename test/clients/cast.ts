// What every SDK is asked for, of wallets and coins that something happens to.

import { CHANNELS } from '../../src/relay/channels/catalogue.ts'

export interface Cast {
  /** Base URL with the key in its path. */
  readonly url: string
  /** Whose orders rest, and are filled again and again. */
  readonly maker: string
  /** Who trade, and now and then move money. */
  readonly takers: readonly string[]
  /** Of an order of the first of them. */
  readonly oid: number
  readonly vault: string
  readonly tokenId: string
  readonly spotCoin: string
}

export const PATIENCE_MS = 40_000

const SERVED: ReadonlySet<string> = new Set(CHANNELS.map(({ type }) => type))
export const isServed = (channel: string) => SERVED.has(channel)

/** Bodies of a channel without `type`: a frame has to come for one of them. */
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

/** Runs them all at once and answers what failed, by name. */
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

/** Rejects where the promise does not settle in time. */
export function inTime<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, PATIENCE_MS, new Error('no frame')).unref())
  return Promise.race([promise, late])
}
