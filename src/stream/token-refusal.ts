// What a socket that came with a stream token is refused: bodies of other coins and channels, and more of them than one
// visitor needs. Law: a body that names no coins asks for all.

import type { Failure } from '../core/failure.ts'
import { subscriptionOutside, TOKEN_SPEED_MAX, TOKEN_SUBSCRIPTIONS } from '../key/stream-token.ts'
import type { Wanted } from './channel.ts'
import type { SubscribeFrame } from './protocol.ts'
import type { Connection } from './sockets/connection.ts'

export const TOKEN_IS_FULL: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: TOKEN_SUBSCRIPTIONS,
  hint: `subscription: at most ${TOKEN_SUBSCRIPTIONS} subscriptions on a connection with a stream token: end one`,
}

/** Null: a token allows it, or there is none. */
export function tokenRefusal(
  { identity: { token } }: Pick<Connection, 'identity'>,
  wanted: Wanted,
  { replay }: Pick<SubscribeFrame, 'replay'>,
): Failure | null {
  if (!token) return null
  const outside = subscriptionOutside(token, wanted.channel.type, coinsOf(wanted))
  if (outside || !replay) return outside
  const { speed = 1 } = replay
  if (speed !== 'max' && speed <= TOKEN_SPEED_MAX) return null
  const message = `with a stream token at most ${TOKEN_SPEED_MAX}`
  return { kind: 'bad_field', issues: [{ path: 'replay.speed', message }] }
}

/** The coins that a body names; null where it names none. */
function coinsOf(wanted: Wanted): readonly string[] | null {
  switch (wanted.source) {
    case 'events':
      return wanted.channel.by === 'coin' ? wanted.channel.names(wanted.body) : null
    case 'books':
    case 'views':
      return wanted.body.coins
    case 'l4':
      return [wanted.body.coin]
    case 'states': {
      const coin = wanted.channel.coin?.(wanted.body)
      return coin === undefined ? null : [coin]
    }
  }
}
