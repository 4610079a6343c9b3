// PATCH /admin/keys/{key}.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { WARNINGS, warned } from '../fields.ts'
import {
  KEY_EXAMPLE,
  KEY_PARAMS,
  KeyChanges,
  OfAccount,
  pastExpiry,
  ShownKey,
  shownKey,
  unsureOf,
} from '../key-shapes.ts'

export const changeKey = defineEndpoint(
  {
    id: 'changeKey',
    method: 'patch',
    path: '/admin/keys/{key}',
    summary: 'Label, restrict or let expire; what is left out stays, null takes away',
    description: 'Isolates know it within a minute. New ranges hold for calls and new sockets; open ones stay.',
    door: 'admin',
    params: KEY_PARAMS,
    query: OfAccount,
    body: {
      schema: KeyChanges,
      optional: false,
      example: { label: 'bot 2', cap: '500', expires: null },
    },
    answers: {
      200: {
        description: 'The key as it is now',
        schema: z.object({ ...ShownKey.shape, ...WARNINGS }),
        example: KEY_EXAMPLE,
      },
    },
    refusals: [404],
  },
  async ({ params, query, body }, { keys, now, isProxied }) => {
    const past = pastExpiry(body.expires, now())
    if (past !== null) return err(past)
    const changed = await keys.change({ name: params.key, ...query }, body)
    if (!changed.ok) return changed
    const warnings = unsureOf(body.ranges, isProxied)
    return reply(200, { ...shownKey(changed.value), ...warned(warnings) })
  },
)
