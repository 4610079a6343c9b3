// POST /admin/keys/{key}/rotate.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { ISSUED_EXAMPLE, IssuedKey, KEY_PARAMS, OfAccount } from '../key-shapes.ts'
import { OldKeyEnds, RotatedBefore, RotateKey, rotationOf, SHOWN_EXAMPLE, shownRotation } from '../rotation-shapes.ts'

export const rotateKey = defineEndpoint(
  {
    id: 'rotateKey',
    method: 'post',
    path: '/admin/keys/{key}/rotate',
    summary: 'Replace a key by a new one; both work for a while',
    description:
      'The new key has the old one’s label, products, ranges and expiry, and shares its cap with what was spent under it. ' +
      'A key is replaced once: a retry with the same `idempotency_key` makes no other key, anything else is refused. Where ' +
      'the answer with the key was lost, rotate the new key by the `hash` that the retry shows.',
    door: 'admin',
    params: KEY_PARAMS,
    query: OfAccount,
    body: { schema: RotateKey, optional: true, example: { grace_seconds: 3600, idempotency_key: 'spring' } },
    answers: {
      200: {
        description: 'Done before; the key is not shown again',
        schema: RotatedBefore,
        example: { ...SHOWN_EXAMPLE, old_key_ends: 1790003600000, repeated: true },
      },
      201: {
        description: 'The new key, shown this once',
        schema: z.object({ ...IssuedKey.shape, old_key_ends: OldKeyEnds }),
        example: { ...ISSUED_EXAMPLE, old_key_ends: 1790003600000 },
      },
    },
    refusals: [404, 409],
  },
  async ({ params, query, body }, { keys }) => {
    const rotated = await keys.rotate({ name: params.key, ...query }, rotationOf(body))
    if (!rotated.ok) return rotated
    const shown = shownRotation(rotated.value)
    return 'key' in shown ? reply(201, shown) : reply(200, shown)
  },
)
