// userToMultiSigSigners: who signs for a multi-sig user and how many must, null for any other. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserToMultiSigSignersRequest = z.object({ type: z.literal('userToMultiSigSigners'), user: UserAddress })

export const userToMultiSigSigners = defineQuery({
  type: 'userToMultiSigSigners',
  summary: 'Who signs for a multi-sig user',
  example: { request: { user: USER }, response: { authorizedUsers: [OTHER_USER], threshold: 1 } },
  request: UserToMultiSigSignersRequest,
  response: z
    .looseObject({ authorizedUsers: z.array(Address), threshold: z.int().describe('Number of signers required') })
    .nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
