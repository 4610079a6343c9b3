// GET /platform/keys/{key}/reach.

import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { KeyReach, REACH_EXAMPLE, REACH_TEXT, reachOf } from '../key-reach.ts'
import { KEY_PARAMS } from '../key-shapes.ts'
import { FOR_MANAGING, OWN_KEY_PATH, refusedManager } from '../own-account.ts'

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
    const refused = await refusedManager(platform.keys, keyHash)
    if (refused !== null) return err(refused)
    const key = await platform.keys.named({ name, account })
    return key.ok ? reply(200, inEnvelope(await reachOf(key.value, platform))) : key
  },
)
