// extraAgents: named agents that may act for a user. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, TIME } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const extraAgents = ofUserQuery({
  type: 'extraAgents',
  summary: 'Named agents of a user',
  example: [{ name: 'bot', address: OTHER_USER, validUntil: TIME }],
  response: () =>
    z.array(
      z.looseObject({
        name: z.string(),
        address: Address,
        validUntil: z.int().nullable().describe('Expiry, Unix milliseconds'),
      }),
    ),
})
