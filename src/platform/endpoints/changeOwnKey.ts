// PATCH /platform/keys/{key}.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { WARNINGS, warned } from '../fields.ts'
import { KEY_EXAMPLE, KEY_PARAMS, KeyChanges, pastExpiry, ShownKey, shownKey, unsureOf } from '../key-shapes.ts'
import { FOR_MANAGING, manager, OWN_KEY_PATH } from '../own-account.ts'

export const changeOwnKey = defineEndpoint(
  {
    id: 'changeOwnKey',
    method: 'patch',
    path: OWN_KEY_PATH,
    summary: 'Label, restrict or let expire a key of the account; what is left out stays, null takes away',
    description: `${FOR_MANAGING} Isolates know it within a minute; open sockets stay.`,
    door: 'service',
    params: KEY_PARAMS,
    body: {
      schema: KeyChanges,
      optional: false,
      example: { label: 'bot 2', cap: '500' },
    },
    answers: {
      200: {
        description: 'The key as it is now',
        schema: enveloped(z.object({ ...ShownKey.shape, ...WARNINGS })),
        example: inEnvelope(KEY_EXAMPLE),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { key: name }, body, identity: { account, keyHash } }, { keys, now, isProxied }) => {
    const caller = await manager(keys, keyHash)
    if (!caller.ok) return caller
    const refused = pastExpiry(body.expires, now())
    if (refused !== null) return err(refused)
    const changed = await keys.change({ name, account }, body)
    if (!changed.ok) return changed
    return reply(200, inEnvelope({ ...shownKey(changed.value), ...warned(unsureOf(body.ranges, isProxied)) }))
  },
)
