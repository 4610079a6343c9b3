// The operator's routes of keys.

import { ok } from '../core/result.ts'
import { formatCredits } from '../credit/amount.ts'
import { CHANGE_KEY, CREATE_KEY, LIST_KEYS, REVOKE_KEY, ROTATE_KEY } from './key-operations.ts'
import { shownKey } from './key-shapes.ts'
import type { KeysDesk } from './keys-desk.client.ts'
import { type AdminApp, type AdminContext, serve } from './serve.route.ts'

/** Registers them. */
export function keyRoutes(app: AdminApp, deskOf: (c: AdminContext) => KeysDesk): void {
  serve(app, CREATE_KEY, async (c, { body }) => {
    const issued = await deskOf(c).create(body)
    return issued.ok ? ok({ status: 201, body: issued.value }) : issued
  })

  serve(app, LIST_KEYS, async (c, { query: { account } }) => {
    const keys = await deskOf(c).list(account)
    const shown = keys.map(({ balance, ...key }) => ({
      ...shownKey(key),
      balance: balance === null ? null : formatCredits(balance),
    }))
    return ok({ body: { keys: shown } })
  })

  serve(app, CHANGE_KEY, async (c, { params, query, body }) => {
    const changed = await deskOf(c).change({ name: params.key, ...query }, body)
    return changed.ok ? ok({ body: shownKey(changed.value) }) : changed
  })

  serve(app, ROTATE_KEY, async (c, { params, query, body }) => {
    const { grace_seconds: grace, idempotency_key: id } = body
    const rotated = await deskOf(c).rotate({ name: params.key, ...query }, { graceMs: grace * 1000, id: id ?? null })
    if (!rotated.ok) return rotated
    const { oldEndsMs, ...key } = rotated.value
    return 'key' in key
      ? ok({ status: 201, body: { ...key, old_key_ends: oldEndsMs } })
      : ok({ body: { ...key, old_key_ends: oldEndsMs, repeated: true } })
  })

  serve(app, REVOKE_KEY, async (c, { params, query }) => {
    const revoked = await deskOf(c).revoke({ name: params.key, ...query })
    if (!revoked.ok) return revoked
    const { hash, prefix, account, label, revoked: at } = revoked.value
    return ok({ body: { hash, prefix, account, label, revoked: at } })
  })
}
