// approvedBuilders: the builders that a user lets charge fees. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const approvedBuilders = passThroughQuery({
  type: 'approvedBuilders',
  summary: 'The builders that a user lets charge fees',
  example: { request: { user: USER }, response: [OTHER_USER] },
  request: z.object({ type: z.literal('approvedBuilders'), user: UserAddress }),
  response: z.array(Address),
  freshness: { class: 'user' },
})
