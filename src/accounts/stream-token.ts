// Stream tokens: credentials that browsers use instead of a key. A token names the paying key by its hash, and limits
// coins, channels, holder and lifetime. Invariants: a token grants market data only, never wallet data; when its key
// loses a right, the token loses it too; a token cannot issue other tokens.

import type { Coin } from '../core/coin.ts'
import type { Failure } from '../core/failure.ts'
import type { KeyHash } from '../core/ids.ts'
import type { Identity, Product, StreamToken } from './identity.ts'

export const TOKEN_PREFIX = 'cqe_'
/** Bounded by URL length and by the size of a socket's attachment. */
export const TOKEN_COINS_MAX = 64
export const TOKEN_MINUTES_MAX = 60
/** Maximum open sockets per holder on each relay. */
export const TOKEN_SOCKETS = 4
export const TOKEN_SUBSCRIPTIONS = 16
/** A page needs a few requests when it opens, and one for each book that restarts. */
export const TOKEN_CALLS = { name: 'token-calls', quota: 60, windowSeconds: 60 } as const
/** Maximum replay speed, as a multiple of real time. Each minute is charged when it is played. */
export const TOKEN_SPEED_MAX = 60
const FRAMES_PER_MINUTE = 240
/** Limit on the stream minutes that a visitor who has no key may start. */
export const VISITOR_MINUTES = { name: 'visitor-minutes', quota: 90, windowSeconds: 60 } as const

export const TOKEN_CHANNELS = [
  'l2BookDiff',
  'l2BookDiff2',
  'l2Book',
  'bbo',
  'trades',
  'candle',
  'allMids',
  'activeAssetCtx',
  'assetCtxs',
  'spotAssetCtxs',
] as const

/**
 * Info types for an individual coin; types for all coins, which need a token for all coins; and types that only list
 * markets.
 */
const SINGLE_COIN_TYPES = ['l2BookDiffSnapshot', 'l2Book', 'candleSnapshot', 'recentTrades']
const ALL_COIN_TYPES = ['allMids', 'metaAndAssetCtxs', 'spotMetaAndAssetCtxs']
const LIST_TYPES = ['meta', 'spotMeta', 'outcomeMeta', 'perpDexs']
export const TOKEN_INFO_TYPES: readonly string[] = [...SINGLE_COIN_TYPES, ...ALL_COIN_TYPES, ...LIST_TYPES]
const PRODUCTS: readonly Product[] = ['info', 'stream']

export type SignedStreamToken = StreamToken & { readonly keyHash: KeyHash }

/** Restricts the key's identity to the token's scope. */
export function narrowIdentity(identity: Identity, token: StreamToken): Identity {
  const { limits, products } = identity
  return {
    ...identity,
    kind: 'api',
    products: products.filter((product) => PRODUCTS.includes(product)),
    limits: limits && {
      ...limits,
      streamMessagesPerMinute: Math.min(limits.streamMessagesPerMinute, FRAMES_PER_MINUTE),
    },
    token,
  }
}

/** Failure for an info request outside the token's scope. `request` is parsed by its type's schema. */
export function infoScopeRefusal({ coins }: StreamToken, request: { readonly type: string }): Failure | null {
  const { type, block_height: height, time, ...sent } = request as InfoRequest
  if (!TOKEN_INFO_TYPES.includes(type))
    return refusal(
      `Stream tokens do not cover the type ${type}. Use an API key, or one of ${TOKEN_INFO_TYPES.join(', ')}.`,
    )
  if (height !== undefined || time !== undefined)
    return refusal('Stream tokens do not cover past books. Remove block_height and time, or use an API key.')
  if (coins === null || LIST_TYPES.includes(type)) return null
  const coin = sent.coin ?? sent.req?.coin
  if (coin !== undefined && coins.includes(coin)) return null
  return coin === undefined
    ? refusal(`${type} covers every coin, but ${coinScope(coins)}`)
    : coinNotAllowed(coin, coins)
}

interface InfoRequest {
  readonly type: string
  readonly block_height?: unknown
  readonly time?: unknown
  readonly coin?: Coin
  readonly req?: { readonly coin?: Coin }
}

/** Failure for a subscription outside the token's scope. `coins` are those named in its body, null if none. */
export function subscriptionScopeRefusal(
  token: StreamToken,
  channel: string,
  coins: readonly string[] | null,
): Failure | null {
  if (!token.channels.includes(channel))
    return refusal(`This stream token is for ${token.channels.join(', ')}, not for ${channel}.`)
  const { coins: allowed } = token
  if (allowed === null) return null
  if (coins === null) return refusal(`This subscription covers every coin, but ${coinScope(allowed)}`)
  const other = coins.find((coin) => !allowed.includes(coin))
  return other === undefined ? null : coinNotAllowed(other, allowed)
}

const coinNotAllowed = (coin: Coin, coins: readonly string[]) => refusal(`${JSON.stringify(coin)}: ${coinScope(coins)}`)
const coinScope = (coins: readonly string[]) =>
  `this stream token is only for ${coins.slice(0, 8).join(', ')}${coins.length > 8 ? ' …' : ''}.`
const refusal = (why: string): Failure => ({ kind: 'not_entitled', why })

/** Failure for visitors who have no key, after the operator's budget for them is spent. */
export function visitorsBusy(retryAfterMs: number): Failure {
  const hint = `Visitor limit reached: the free budget for visitors without a key is used up for now. Try again in ${Math.ceil(retryAfterMs / 1_000)} s, or sign in at /console.`
  return { kind: 'rate_limited', retryAfterMs, hint }
}

export const STREAM_TOKEN_EXPIRED: Failure = {
  kind: 'key_expired',
  hint: 'This stream token has expired. Request a new one.',
}
