// What parts of the client package that are loaded by themselves need of a client. By a registered symbol, so that it is the
// same in every copy of the package.

import type { Connection } from './connection.ts'
import type { Opened } from './opened.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import type { SubscriptionBody } from './subscription.ts'
import { WeirError } from './weir-error.ts'

export interface Inside {
  readonly opened: Opened
  readonly runtime: ClientRuntime
  readonly endpoint: Endpoint
  /** Connects where nothing did yet. */
  readonly connected: () => Connection
}

export const INSIDE = Symbol.for('weir-client.inside')

export function insideOf(client: object): Inside {
  const inside = (client as { readonly [INSIDE]?: Inside })[INSIDE]
  if (!inside) throw new TypeError('send the client that createClient has made')
  return inside
}

/** Refuses a body that is there: whose frames are whose nobody could tell. */
export function refuseTwice(connection: Connection, body: SubscriptionBody): void {
  if (!connection.has(body)) return
  throw new WeirError('already_subscribed', `${JSON.stringify(body)} is subscribed to: share it, or close it first`)
}
