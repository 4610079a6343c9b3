// DELETE /admin/keys/{key}.

import { defineEndpoint, reply } from '../endpoint.ts'
import { KEY_PARAMS, OfAccount, REVOKED_EXAMPLE, RevokedKey } from '../key-shapes.ts'

export const revokeKey = defineEndpoint(
  {
    id: 'revokeKey',
    method: 'delete',
    path: '/admin/keys/{key}',
    summary: 'Revoke a key for good; again is the same',
    description:
      'Refused within 30 s on HTTP; its sockets are closed with 4401 within 60 s. What it used stays recorded.',
    door: 'admin',
    params: KEY_PARAMS,
    query: OfAccount,
    answers: { 200: { description: 'Revoked', schema: RevokedKey, example: REVOKED_EXAMPLE } },
    refusals: [404],
  },
  async ({ params, query }, { keys }) => {
    const revoked = await keys.revoke({ name: params.key, ...query })
    if (!revoked.ok) return revoked
    const { hash, prefix, account, label, revoked: at } = revoked.value
    return reply(200, { hash, prefix, account, label, revoked: at })
  },
)
