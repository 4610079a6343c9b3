// POST /admin/keys/{key}/rotate.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { IdempotencyKey, UnixMs } from '../fields.ts'
import { ISSUED_EXAMPLE, IssuedKey, KEY_PARAMS, OfAccount } from '../key-shapes.ts'

const GRACE_MAX_SECONDS = 30 * 86_400
const grace = `must be whole seconds from 0 to ${GRACE_MAX_SECONDS} (30 days)`

const RotateKey = z.strictObject({
  grace_seconds: z
    .int(grace)
    .min(0, grace)
    .max(GRACE_MAX_SECONDS, grace)
    .default(86_400)
    .describe('How long the old key still works; 0: it is revoked at once'),
  idempotency_key: IdempotencyKey.optional(),
})

const OldKeyEnds = UnixMs.describe('When the old key ends, Unix milliseconds')

/** A rotation that was done before: the new key, without itself. */
const RotatedBefore = IssuedKey.omit({ key: true }).extend({
  old_key_ends: OldKeyEnds,
  repeated: z.literal(true).describe('It was rotated by an earlier call'),
})

const { key: _, ...SHOWN_EXAMPLE } = ISSUED_EXAMPLE

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
    const { grace_seconds: seconds, idempotency_key: id } = body
    const rotated = await keys.rotate({ name: params.key, ...query }, { graceMs: seconds * 1000, id: id ?? null })
    if (!rotated.ok) return rotated
    const { oldEndsMs, ...key } = rotated.value
    return 'key' in key
      ? reply(201, { ...key, old_key_ends: oldEndsMs })
      : reply(200, { ...key, old_key_ends: oldEndsMs, repeated: true })
  },
)
