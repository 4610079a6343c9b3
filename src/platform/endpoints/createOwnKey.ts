// POST /platform/keys/. Laws: the key is in one answer only; a double click makes one key.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { rootOf } from '../../key/key-row.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { IdempotencyKey, WARNINGS, warned } from '../fields.ts'
import { ISSUED_EXAMPLE, IssuedKey, KEY_ORDER, pastExpiry, unsureOf } from '../key-shapes.ts'
import { FOR_MANAGING, manager, OWN_KEYS_PATH } from '../own-account.ts'
import { SHOWN_EXAMPLE } from '../rotation-shapes.ts'

const MadeBefore = IssuedKey.omit({ key: true }).extend({
  repeated: z.literal(true).describe('It was made by an earlier call'),
})

export const createOwnKey = defineEndpoint(
  {
    id: 'createOwnKey',
    method: 'post',
    path: OWN_KEYS_PATH,
    summary: 'Make a key of the account',
    description:
      `${FOR_MANAGING} A retry with the same \`idempotency_key\` makes no other key, and does not show it again; one for another ` +
      'kind or label is refused (409). An account has at most 10,000 keys that work or were made within a day (409).',
    door: 'service',
    body: {
      schema: z.strictObject({
        ...KEY_ORDER,
        idempotency_key: IdempotencyKey.optional(),
      }),
      optional: true,
      example: { label: 'bot', products: ['info', 'stream'], cap: '100' },
    },
    answers: {
      200: {
        description: 'Made before; the key is not shown again',
        schema: enveloped(MadeBefore),
        example: inEnvelope({ ...SHOWN_EXAMPLE, repeated: true }),
      },
      201: {
        description: 'The key, shown this once',
        schema: enveloped(z.object({ ...IssuedKey.shape, ...WARNINGS })),
        example: inEnvelope(ISSUED_EXAMPLE),
      },
    },
    refusals: [400, 409],
  },
  async ({ body, identity: { account, keyHash } }, { keys, now, isProxied }) => {
    const maker = await manager(keys, keyHash)
    if (!maker.ok) return maker
    const refused = pastExpiry(body.expires, now())
    if (refused !== null) return err(refused)
    const { idempotency_key: request = null, ...order } = body
    const made = await keys.createOwn({ ...order, account, request, maker: rootOf(maker.value) })
    if (!made.ok) return made
    const { hash, prefix, label, kind } = made.value
    const shown = { hash, prefix, account, label, kind }
    if (!('key' in made.value)) return reply(200, inEnvelope({ ...shown, repeated: true }))
    return reply(201, inEnvelope({ key: made.value.key, ...shown, ...warned(unsureOf(order.ranges, isProxied)) }))
  },
)
