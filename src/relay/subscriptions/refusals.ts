// Why a body is refused before it is paid for: its coins, its DEX, the client's stream token, or no room here.

import { subscriptionScopeRefusal, TOKEN_SPEED_MAX, TOKEN_SUBSCRIPTIONS } from '../../accounts/stream-token.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { unknownDex } from '../../core/unknown-dex.ts'
import type { SubscribeFrame } from '../../protocol/relay/protocol.ts'
import { EVERY, lazyResponse, type Target } from '../channel.ts'
import { dexNames } from '../channels/asset-contexts.ts'
import type { FirstFramePorts } from '../events/first-frames.ts'
import type { Connection } from '../sockets/connection.ts'

/** Of one socket, whatever its plan; an account's subscriptions may lie on many sockets. */
const MAX_SUBSCRIPTIONS_PER_SOCKET = 1000

function unavailable(hint: string): Failure {
  return { kind: 'unavailable', what: 'the data', hint }
}
export const NOT_READY = unavailable('the data is not ready yet: subscribe again in a few seconds')
export const WALLET_LIMIT_REACHED = unavailable(
  'as many wallets are watched here as can be: open another connection, which leads elsewhere',
)
export const BOOK_LIMIT_REACHED = unavailable(
  'as many books are shown here as can be: open another connection, which leads elsewhere',
)

const SOCKET_LIMIT_REACHED: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: MAX_SUBSCRIPTIONS_PER_SOCKET,
  hint: `subscription: at most ${MAX_SUBSCRIPTIONS_PER_SOCKET} subscriptions per connection: open another one`,
}
const TOKEN_LIMIT_REACHED: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: TOKEN_SUBSCRIPTIONS,
  hint: `subscription: at most ${TOKEN_SUBSCRIPTIONS} subscriptions on a connection with a stream token: end one`,
}

/** The refusal of one more body on a socket that has so many; null where it may have more. */
export function limitFailure({ identity }: Connection, count: number): Failure | null {
  if (identity.token) return count >= TOKEN_SUBSCRIPTIONS ? TOKEN_LIMIT_REACHED : null
  return count >= MAX_SUBSCRIPTIONS_PER_SOCKET ? SOCKET_LIMIT_REACHED : null
}

/** The refusal of coins that have no book. Where nobody can tell now, a coin is taken to have one. */
export async function coinsFailure(
  coins: readonly string[],
  { hasBook, nearestCoin }: CoinPorts,
): Promise<Failure | null> {
  const has = await Promise.all(coins.map((coin) => hasBook(coin)))
  const unknown = coins.filter((_, index) => has[index] === false)
  return unknown.length > 0 ? noSuchBook(unknown, nearestCoin) : null
}

interface CoinPorts {
  /** Whether this coin has a book; null where nobody can tell now. */
  hasBook(coin: Coin): Promise<boolean | null>
  nearestCoin(coin: Coin): Promise<string | undefined>
}

/** What a client is told of coins that have no book; `nearest` answers the coin that was probably meant. */
export async function noSuchBook(coins: readonly string[], nearest: CoinPorts['nearestCoin']): Promise<Failure> {
  const named = coins.slice(0, 5).map(async (coin) => {
    const meant = await nearest(coin)
    return JSON.stringify(coin) + (meant === undefined ? '' : ` (did you mean ${JSON.stringify(meant)}?)`)
  })
  const names = await Promise.all(named)
  const hint = `coin: there is no book of ${names.join(', ')}: send coins as "meta" and "spotMeta" name them`
  return { kind: 'not_found', what: 'coin', hint }
}

const DEXES_UNKNOWN: Failure = {
  kind: 'unavailable',
  what: 'the list of DEXes',
  hint: 'no source could say now whether there is this `dex`: subscribe again',
}

interface DexPorts extends Pick<FirstFramePorts, 'read'> {
  dexes(): Promise<readonly string[]>
}

/**
 * The refusal of a body whose `dex` neither coins nor the sources know, or of which nobody can say: it would be served, and
 * charged, without anything in it.
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

/** What the sources list; null where they do not answer. */
async function listedDexes(read: DexPorts['read']): Promise<readonly string[] | null> {
  try {
    const answer = await read({ type: 'perpDexs' })
    return answer && dexNames(lazyResponse(answer.body))
  } catch {
    return null
  }
}

/** The refusal of a body that the connection's stream token does not allow; null where it does, or there is none. */
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
  const message = `with a stream token at most ${TOKEN_SPEED_MAX}`
  return { kind: 'bad_field', issues: [{ path: 'replay.speed', message }] }
}

/** The coins that a body names; null where it names none, and so asks for all. */
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

/** The coins of a body of events, without the mark of one that wants all. */
export function eventCoins(target: Target): readonly string[] {
  if (target.source !== 'events' || target.channel.by !== 'coin') return []
  return target.channel.names(target.body).filter((coin) => coin !== EVERY)
}
