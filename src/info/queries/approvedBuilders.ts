// approvedBuilders: the builders that a user lets charge fees. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const ApprovedBuildersRequest = z.object({ type: z.literal('approvedBuilders'), user: UserAddress })

export const approvedBuilders = defineQuery({
  type: 'approvedBuilders',
  summary: 'The builders that a user lets charge fees',
  example: { request: { user: USER }, response: [OTHER_USER] },
  request: ApprovedBuildersRequest,
  response: z.array(Address),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
