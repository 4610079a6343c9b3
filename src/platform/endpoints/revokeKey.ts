// DELETE /admin/keys/{key}.

import { defineEndpoint, reply } from '../endpoint.ts'
import { KeyReach, REACH_EXAMPLE, REACH_TEXT, reachOf } from '../key-reach.ts'
import { KEY_PARAMS, OfAccount, REVOKED_EXAMPLE, RevokedKey } from '../key-shapes.ts'

const WithReach = RevokedKey.extend({ reach: KeyReach.describe(REACH_TEXT) })

export const revokeKey = defineEndpoint(
  {
    id: 'revokeKey',
    method: 'delete',
    path: '/admin/keys/{key}',
    summary: 'Revoke a key for good; again is the same',
    description:
      'Refused within 30 s on HTTP, at once where it would change something; its sockets are closed with 4401 within 60 s, and pipelines that are charged to it are paused ' +
      'within 30 s, unless it was replaced. What it used stays recorded.',
    door: 'admin',
    params: KEY_PARAMS,
    query: OfAccount,
    answers: {
      200: { description: 'Revoked', schema: WithReach, example: { ...REVOKED_EXAMPLE, reach: REACH_EXAMPLE } },
    },
    refusals: [404],
  },
  async ({ params, query }, platform) => {
    const revoked = await platform.keys.revoke({ name: params.key, ...query })
    if (!revoked.ok) return revoked
    const { hash, prefix, account, label, revoked: at } = revoked.value
    const reach = await reachOf(revoked.value, platform)
    return reply(200, { hash, prefix, account, label, revoked: at, reach })
  },
)
