// What a subscription is, and what one that begins asks for.

import type { MarketType } from '../core/coin.ts'
import type { Wanted } from './channel.ts'
import type { Minutes } from './minutes/minutes.ts'
import type { Connection } from './sockets/connection.ts'

/** A body as a socket asked for it. */
export interface Request {
  readonly connection: Connection
  readonly identity: string
  /** JSON of the body as sent. */
  readonly echo: string
  readonly wanted: Wanted
  readonly meta: boolean
  readonly fromBlock: number | undefined
}

export interface Subscription extends Omit<Request, 'fromBlock'> {
  readonly minutes: Minutes
  /** Market types of which Snapshots were sent, with the number of minutes paid by then. */
  readonly sent?: Map<MarketType, number>
}

/** Bodies that get the very same frames. */
export function topicKey({ identity, meta }: { readonly identity: string; readonly meta: boolean }): string {
  return meta ? `meta ${identity}` : identity
}

/** What `byConnection` has of a connection, or an empty map that is not in it. */
export function of<V>(byConnection: ReadonlyMap<Connection, Map<string, V>>, connection: Connection): Map<string, V> {
  return byConnection.get(connection) ?? new Map()
}
