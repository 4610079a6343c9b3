// GET /admin/keys/{key}/reach.

import { defineEndpoint, reply } from '../endpoint.ts'
import { KeyReach, REACH_EXAMPLE, REACH_TEXT, reachOf } from '../key-reach.ts'
import { KEY_PARAMS, OfAccount } from '../key-shapes.ts'

export const keyReach = defineEndpoint(
  {
    id: 'keyReach',
    method: 'get',
    path: '/admin/keys/{key}/reach',
    summary: REACH_TEXT,
    door: 'admin',
    // The address of a webhook may hold a secret.
    role: 'owner',
    params: KEY_PARAMS,
    query: OfAccount,
    answers: { 200: { description: 'Its reach', schema: KeyReach, example: REACH_EXAMPLE } },
    refusals: [404],
  },
  async ({ params, query }, platform) => {
    const key = await platform.keys.named({ name: params.key, ...query })
    return key.ok ? reply(200, await reachOf(key.value, platform)) : key
  },
)
