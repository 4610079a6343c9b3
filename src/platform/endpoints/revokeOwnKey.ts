// DELETE /platform/keys/{key}. Law: whoever has a service key can end it, whatever restricts it.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { KeyReach, REACH_EXAMPLE, REACH_TEXT, reachOf } from '../key-reach.ts'
import { KEY_PARAMS, REVOKED_EXAMPLE, RevokedKey } from '../key-shapes.ts'
import { FOR_MANAGING, mayNotManage, OWN_KEY_PATH } from '../own-account.ts'

export const revokeOwnKey = defineEndpoint(
  {
    id: 'revokeOwnKey',
    method: 'delete',
    path: OWN_KEY_PATH,
    summary: 'Revoke a key of the account for good; again is the same',
    description:
      `${FOR_MANAGING} Every service key may revoke itself. Refused within 30 s on HTTP, at once where it would change ` +
      'something; its sockets are closed with 4401 within 60 s, and pipelines that are charged to it are paused within 30 s, unless it was replaced. What it used stays recorded.',
    door: 'service',
    params: KEY_PARAMS,
    answers: {
      200: {
        description: 'Revoked',
        schema: enveloped(
          z.object({
            ...RevokedKey.shape,
            reach: KeyReach.nullable().describe(`${REACH_TEXT}; null: a restricted key revoked itself`),
            is_this_key: z.boolean().describe('It is the key that asked: this was its last call'),
          }),
        ),
        example: inEnvelope({ ...REVOKED_EXAMPLE, reach: REACH_EXAMPLE, is_this_key: false }),
      },
    },
    refusals: [404],
  },
  async ({ params: { key: name }, identity: { account, keyHash } }, platform) => {
    const { keys } = platform
    const own = await keys.hashed(keyHash)
    const refused = own?.hash === name || own?.prefix === name ? null : mayNotManage(own)
    if (refused !== null) return err(refused)
    const revoked = await keys.revoke({ name: own?.prefix === name ? own.hash : name, account })
    if (!revoked.ok) return revoked
    const { hash, prefix, label, revoked: at } = revoked.value
    const reach = mayNotManage(own) === null ? await reachOf(revoked.value, platform) : null
    return reply(200, inEnvelope({ hash, prefix, account, label, revoked: at, reach, is_this_key: hash === keyHash }))
  },
)
