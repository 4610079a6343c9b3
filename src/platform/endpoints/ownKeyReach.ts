// GET /platform/keys/{key}/reach.

import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { KeyReach, REACH_EXAMPLE, REACH_TEXT, reachOf } from '../key-reach.ts'
import { KEY_PARAMS } from '../key-shapes.ts'
import { FOR_MANAGING, manager, OWN_KEY_PATH } from '../own-account.ts'

export const ownKeyReach = defineEndpoint(
  {
    id: 'ownKeyReach',
    method: 'get',
    path: `${OWN_KEY_PATH}/reach`,
    summary: REACH_TEXT,
    description: FOR_MANAGING,
    door: 'service',
    params: KEY_PARAMS,
    answers: {
      200: { description: 'Its reach', schema: enveloped(KeyReach), example: inEnvelope(REACH_EXAMPLE) },
    },
    refusals: [404],
  },
  async ({ params: { key: name }, identity: { account, keyHash } }, platform) => {
    const caller = await manager(platform.keys, keyHash)
    if (!caller.ok) return caller
    const key = await platform.keys.named({ name, account })
    return key.ok ? reply(200, inEnvelope(await reachOf(key.value, platform))) : key
  },
)
