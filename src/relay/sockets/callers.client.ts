// Refreshes callers when the terms of their account or key change: plan, products or expiry.

import type { Identity } from '../../accounts/identity.ts'
import type { Failure } from '../../core/failure.ts'
import type { KeyHash } from '../../core/ids.ts'
import type { Connection } from './connection.ts'

type EndReason = 'revoked' | 'expired' | 'not entitled'

const END_FAILURES: Readonly<Record<EndReason, Failure>> = {
  revoked: { kind: 'key_revoked' },
  expired: { kind: 'key_expired' },
  'not entitled': {
    kind: 'not_entitled',
    why: 'This API key no longer allows streams. Use another key, or ask the operator.',
  },
}

export type Caller =
  | { readonly ok: true; readonly identity: Identity }
  /** `replaced`: another key took its place. */
  | { readonly ok: false; readonly why: EndReason; readonly replaced?: boolean }

/** The gateway, which alone reads the table of keys. */
export interface CallerDirectory {
  /**
   * Looks up the current owner of the key with this hash, for a product. `isToken`: the caller uses one of its stream
   * tokens.
   */
  caller(keyHash: KeyHash, product?: Connection['product'], isToken?: boolean): Promise<Caller>
}

/** Updates sockets to `terms` or ends them. A failed lookup is repeated after a later report. */
export async function refreshCallers(
  directory: CallerDirectory,
  connections: readonly Connection[],
  terms: number,
): Promise<void> {
  const byKey = Map.groupBy(
    connections,
    ({ identity, product }) => `${product} ${identity.keyHash} ${identity.token !== undefined}`,
  )
  for (const sockets of byKey.values()) {
    const [first] = sockets
    if (!first) continue
    const { identity, product } = first
    const caller = await directory.caller(identity.keyHash, product, identity.token !== undefined).catch(() => null)
    for (const connection of caller === null ? [] : sockets) {
      if (caller?.ok) connection.renew(caller.identity, terms)
      else if (caller) connection.fail(caller.replaced ? { kind: 'key_replaced' } : END_FAILURES[caller.why])
    }
  }
}
