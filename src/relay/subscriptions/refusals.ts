// Failures of a body before it is charged: unknown coin or DEX, stream token, or no room on this relay.

import { subscriptionScopeRefusal, TOKEN_SPEED_MAX, TOKEN_SUBSCRIPTIONS } from '../../accounts/stream-token.ts'
import type { Coin } from '../../core/coin.ts'
import { inGroups } from '../../core/digit-groups.ts'
import type { Failure } from '../../core/failure.ts'
import { unknownDex } from '../../core/unknown-dex.ts'
import type { SubscribeFrame } from '../../protocol/relay/protocol.ts'
import { isCoin, lazyResponse, type Target } from '../channel.ts'
import { dexNames } from '../channels/asset-contexts.ts'
import type { FirstFramePorts } from '../events/first-frames.ts'
import type { Connection } from '../sockets/connection.ts'

/**
 * Maximum number of subscriptions per socket, whatever the plan. An account may spread its subscriptions over many
 * sockets.
 */
const MAX_SUBSCRIPTIONS_PER_SOCKET = 1000

function unavailable(hint: string): Failure {
  return { kind: 'unavailable', what: 'the data', hint }
}
export const NOT_READY = unavailable('the data is not ready yet. Subscribe again in a few seconds')
export const NO_ORDER_BOOKS: Failure = {
  kind: 'not_found',
  what: 'l4Book',
  hint: 'This gateway has no order-level books.',
}
export const WALLET_LIMIT_REACHED = unavailable(
  'This relay is at its wallet limit. Reconnect to be placed on another one.',
)
export const BOOK_LIMIT_REACHED = unavailable('This relay is at its book limit. Reconnect to be placed on another one.')

const SOCKET_LIMIT_REACHED: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: MAX_SUBSCRIPTIONS_PER_SOCKET,
  hint: `subscription: limit of ${inGroups(MAX_SUBSCRIPTIONS_PER_SOCKET)} subscriptions per connection reached. Open another connection`,
}
const TOKEN_LIMIT_REACHED: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: TOKEN_SUBSCRIPTIONS,
  hint: `subscription: limit of ${TOKEN_SUBSCRIPTIONS} subscriptions per connection with a stream token reached. Unsubscribe from one`,
}

/** Failure if the socket is at its subscription limit; null otherwise. */
export function limitFailure({ identity }: Connection, count: number): Failure | null {
  if (identity.token) return count >= TOKEN_SUBSCRIPTIONS ? TOKEN_LIMIT_REACHED : null
  return count >= MAX_SUBSCRIPTIONS_PER_SOCKET ? SOCKET_LIMIT_REACHED : null
}

/** Failure for coins that have no book. If a hub cannot answer now, the coin is accepted. */
export async function coinsFailure(
  coins: readonly string[],
  { hasBook, nearestCoin }: CoinPorts,
): Promise<Failure | null> {
  const has = await Promise.all(coins.map((coin) => hasBook(coin)))
  const unknown = coins.filter((_, index) => has[index] === false)
  return unknown.length > 0 ? noSuchBook(unknown, nearestCoin) : null
}

interface CoinPorts {
  /** Whether the coin has a book; null if this is currently unknown. */
  hasBook(coin: Coin): Promise<boolean | null>
  nearestCoin(coin: Coin): Promise<string | undefined>
}

/** Failure for coins that have no book. `nearest` suggests a similar coin. */
export async function noSuchBook(coins: readonly string[], nearest: CoinPorts['nearestCoin']): Promise<Failure> {
  const named = coins.slice(0, 5).map(async (coin) => {
    const suggestion = await nearest(coin)
    return JSON.stringify(coin) + (suggestion === undefined ? '' : ` (did you mean ${JSON.stringify(suggestion)}?)`)
  })
  const names = await Promise.all(named)
  const hint = `coin: no book for ${names.join(', ')}. Use coin names from "meta" and "spotMeta"`
  return { kind: 'not_found', what: 'coin', hint }
}

const DEXES_UNKNOWN: Failure = {
  kind: 'unavailable',
  what: 'the list of DEXes',
  hint: 'the `dex` could not be checked because no source responded. Subscribe again',
}

interface DexPorts extends Pick<FirstFramePorts, 'read'> {
  dexes(): Promise<readonly string[]>
}

/**
 * Failure for a `dex` that is unknown, or that cannot be checked now. Without this check, the body would be charged but
 * receive nothing.
 */
export async function dexFailure({ body }: Target, { dexes, read }: DexPorts): Promise<Failure | null> {
  const { dex } = body as { readonly dex?: string }
  if (!dex) return null
  const known = await dexes()
  if (known.includes(dex)) return null
  const others = await listedDexes(read)
  if (others === null) return DEXES_UNKNOWN
  return others.includes(dex) ? null : unknownDex(dex, [...known, ...others])
}

/** DEX names from the sources; null if none responds. */
async function listedDexes(read: DexPorts['read']): Promise<readonly string[] | null> {
  try {
    const response = await read({ type: 'perpDexs' })
    return response && dexNames(lazyResponse(response.body))
  } catch {
    return null
  }
}

/** Failure for a body that the connection's stream token does not allow; null otherwise. */
export function tokenFailure(
  { identity: { token } }: Pick<Connection, 'identity'>,
  target: Target,
  { replay }: Pick<SubscribeFrame, 'replay'>,
): Failure | null {
  if (!token) return null
  const outside = subscriptionScopeRefusal(token, target.channel.type, coinsOfTarget(target))
  if (outside || !replay) return outside
  const { speed = 1 } = replay
  if (speed !== 'max' && speed <= TOKEN_SPEED_MAX) return null
  const message = `must be at most ${TOKEN_SPEED_MAX} with a stream token`
  return { kind: 'bad_field', issues: [{ path: 'replay.speed', message }] }
}

/** Coins that a body names; null if it selects all. */
function coinsOfTarget(target: Target): readonly string[] | null {
  switch (target.source) {
    case 'events':
      return target.channel.by === 'coin' ? target.channel.names(target.body) : null
    case 'books':
    case 'views':
      return target.body.coins
    case 'l4':
      return [target.body.coin]
    case 'states': {
      const coin = target.channel.coin?.(target.body)
      return coin === undefined ? null : [coin]
    }
  }
}

/** Coins that an event body names. */
export function eventCoins(target: Target): readonly string[] {
  if (target.source !== 'events' || target.channel.by !== 'coin') return []
  return target.channel.names(target.body).filter(isCoin)
}
