// POST /platform/keys/{key}/rotate.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { ROTATED_MAX, rootOf } from '../../key/key-row.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { ISSUED_EXAMPLE, IssuedKey, KEY_PARAMS } from '../key-shapes.ts'
import { FOR_MANAGING, manager, OWN_KEY_PATH } from '../own-account.ts'
import type { Refusal } from '../refusal.ts'
import { OldKeyEnds, RotatedBefore, RotateKey, rotationOf, SHOWN_EXAMPLE, shownRotation } from '../rotation-shapes.ts'

const TOO_MANY: Refusal = {
  kind: 'conflict',
  message: `key: keys of the account that work or were made within a day are ${ROTATED_MAX}, rotated ones among them: wait a day, or revoke it`,
}

export const rotateOwnKey = defineEndpoint(
  {
    id: 'rotateOwnKey',
    method: 'post',
    path: `${OWN_KEY_PATH}/rotate`,
    summary: 'Replace a key of the account by a new one; both work for a while',
    description:
      `${FOR_MANAGING} The new key has the old one’s label, products, ranges and expiry, and shares its cap with what was ` +
      'spent under it. A key is replaced once: a retry with the same `idempotency_key` makes no other key, anything else is ' +
      'refused. The key that asks may be rotated too: its successor manages from then on. Where 20,000 keys of the account work ' +
      'or were made within a day none is rotated (409).',
    door: 'service',
    params: KEY_PARAMS,
    body: { schema: RotateKey, optional: true, example: { grace_seconds: 3600, idempotency_key: 'spring' } },
    answers: {
      200: {
        description: 'Done before; the key is not shown again',
        schema: enveloped(RotatedBefore),
        example: inEnvelope({ ...SHOWN_EXAMPLE, old_key_ends: 1790003600000, repeated: true }),
      },
      201: {
        description: 'The new key, shown this once',
        schema: enveloped(z.object({ ...IssuedKey.shape, old_key_ends: OldKeyEnds })),
        example: inEnvelope({ ...ISSUED_EXAMPLE, old_key_ends: 1790003600000 }),
      },
    },
    refusals: [400, 404, 409],
  },
  async ({ params: { key: name }, body, identity: { account, keyHash } }, { keys }) => {
    const maker = await manager(keys, keyHash)
    if (!maker.ok) return maker
    if ((await keys.count(account)) >= ROTATED_MAX) return err(TOO_MANY)
    const rotated = await keys.rotate({ name, account }, { ...rotationOf(body), maker: rootOf(maker.value) })
    if (!rotated.ok) return rotated
    const shown = shownRotation(rotated.value)
    return 'key' in shown ? reply(201, inEnvelope(shown)) : reply(200, inEnvelope(shown))
  },
)
