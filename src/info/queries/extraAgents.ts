// extraAgents: the named agents that may act for a user. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const extraAgents = passThroughQuery({
  type: 'extraAgents',
  summary: 'The named agents of a user',
  example: { request: { user: USER }, response: [{ name: 'bot', address: OTHER_USER, validUntil: TIME }] },
  request: z.object({ type: z.literal('extraAgents'), user: UserAddress }),
  response: z.array(
    z.looseObject({
      name: z.string(),
      address: Address,
      validUntil: z.int().nullable().describe('Expiry, Unix milliseconds'),
    }),
  ),
  freshness: { class: 'user' },
})
