// Looks callers up anew when the terms of their account or key have changed, such as its plan, its products or its end.

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
    why: 'This API key may no longer be used for streams: use another one, or ask the operator.',
  },
}

export type Caller =
  | { readonly ok: true; readonly identity: Identity }
  /** `replaced`: another key stands in its place. */
  | { readonly ok: false; readonly why: EndReason; readonly replaced?: boolean }

/** The gateway, which alone has the table of keys. */
export interface CallerDirectory {
  /** Who has the key with this hash, as the table has it now, for streams or another product; `isToken`: by its tokens. */
  caller(keyHash: KeyHash, product?: Connection['product'], isToken?: boolean): Promise<Caller>
}

/** Brings sockets up to `terms`, or ends them. Who cannot be looked up now is so after a later report. */
export async function refreshCallers(
  book: CallerDirectory,
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
    const caller = await book.caller(identity.keyHash, product, identity.token !== undefined).catch(() => null)
    for (const connection of caller === null ? [] : sockets) {
      if (caller?.ok) connection.renew(caller.identity, terms)
      else if (caller) connection.fail(caller.replaced ? { kind: 'key_replaced' } : END_FAILURES[caller.why])
    }
  }
}
