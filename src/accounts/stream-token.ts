// A stream token: what a browser is given in the place of a key. It names the key that pays for it, by its hash, and says
// which coins and channels, for whom, until when. Laws: it opens market data alone, nothing of a wallet; what a key loses
// its tokens lose; a token makes no other.

import type { Coin } from '../core/coin.ts'
import type { Failure } from '../core/failure.ts'
import type { KeyHash } from '../core/ids.ts'
import type { Identity, Product, StreamToken } from './identity.ts'

export const TOKEN_PREFIX = 'cqe_'
/** A URL has room for it, and a socket's attachment for what it says. */
export const TOKEN_COINS_MAX = 64
export const TOKEN_MINUTES_MAX = 60
/** Open sockets of one holder, at each relay. */
export const TOKEN_SOCKETS = 4
export const TOKEN_SUBSCRIPTIONS = 16
/** A page that is opened asks for a handful of answers, and for one each time a book begins again. */
export const TOKEN_CALLS = { name: 'token-calls', quota: 60, windowSeconds: 60 } as const
/** Of replays, whose minutes are paid as they pass. */
export const TOKEN_SPEED_MAX = 60
const FRAMES_PER_MINUTE = 240
/** Minutes of streams that one visitor without a key may begin. */
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

/** Info types of one coin each; those of all coins, for tokens of all coins; and those that only list what there is. */
const SINGLE_COIN_TYPES = ['l2BookDiffSnapshot', 'l2Book', 'candleSnapshot', 'recentTrades']
const ALL_COIN_TYPES = ['allMids', 'metaAndAssetCtxs', 'spotMetaAndAssetCtxs']
const LIST_TYPES = ['meta', 'spotMeta', 'outcomeMeta', 'perpDexs']
export const TOKEN_INFO_TYPES: readonly string[] = [...SINGLE_COIN_TYPES, ...ALL_COIN_TYPES, ...LIST_TYPES]
const PRODUCTS: readonly Product[] = ['info', 'stream']

export type SignedStreamToken = StreamToken & { readonly keyHash: KeyHash }

/** Who a token lets in: its key's holder, with no more than it says. */
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

/** The refusal of a question that a token is not for. `request`: as its type's own schema read it. */
export function infoScopeRefusal({ coins }: StreamToken, request: { readonly type: string }): Failure | null {
  const { type, block_height: height, ...sent } = request as InfoRequest
  if (!TOKEN_INFO_TYPES.includes(type))
    return refusal(
      `This is a stream token, and the type ${type} takes an API key. It takes ${TOKEN_INFO_TYPES.join(', ')}.`,
    )
  if (height !== undefined) return refusal('This is a stream token: leave block_height out, or ask with an API key.')
  if (coins === null || LIST_TYPES.includes(type)) return null
  const coin = sent.coin ?? sent.req?.coin
  if (coin !== undefined && coins.includes(coin)) return null
  return coin === undefined
    ? refusal(`${type} tells of every coin, and ${coinScope(coins)}`)
    : coinNotAllowed(coin, coins)
}

interface InfoRequest {
  readonly type: string
  readonly block_height?: unknown
  readonly coin?: Coin
  readonly req?: { readonly coin?: Coin }
}

/** The refusal of a subscription that a token is not for. `coins`: those that its body names, null where it names none. */
export function subscriptionScopeRefusal(
  token: StreamToken,
  channel: string,
  coins: readonly string[] | null,
): Failure | null {
  if (!token.channels.includes(channel))
    return refusal(`This stream token is for ${token.channels.join(', ')}, and not for ${channel}.`)
  const { coins: allowed } = token
  if (allowed === null) return null
  if (coins === null) return refusal(`This body asks for every coin, and ${coinScope(allowed)}`)
  const other = coins.find((coin) => !allowed.includes(coin))
  return other === undefined ? null : coinNotAllowed(other, allowed)
}

const coinNotAllowed = (coin: Coin, coins: readonly string[]) => refusal(`${JSON.stringify(coin)}: ${coinScope(coins)}`)
const coinScope = (coins: readonly string[]) =>
  `this stream token is for ${coins.slice(0, 8).join(', ')}${coins.length > 8 ? ' …' : ''} alone.`
const refusal = (why: string): Failure => ({ kind: 'not_entitled', why })

/** The refusal of visitors without a key where the operator's budget for them is spent. */
export function visitorsBusy(retryAfterMs: number): Failure {
  const hint = `Busy: visitors without a key have used what this gateway gives them for now. Try again in ${Math.ceil(retryAfterMs / 1_000)} s, or sign in at /console.`
  return { kind: 'rate_limited', retryAfterMs, hint }
}

export const STREAM_TOKEN_EXPIRED: Failure = {
  kind: 'key_expired',
  hint: 'This stream token has expired: ask for another one.',
}
