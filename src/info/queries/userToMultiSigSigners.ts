// userToMultiSigSigners: who signs for a multi-sig user and how many must, null for any other. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const userToMultiSigSigners = passThroughQuery({
  type: 'userToMultiSigSigners',
  summary: 'Who signs for a multi-sig user',
  example: { request: { user: USER }, response: { authorizedUsers: [OTHER_USER], threshold: 1 } },
  request: z.object({ type: z.literal('userToMultiSigSigners'), user: UserAddress }),
  response: z
    .looseObject({ authorizedUsers: z.array(Address), threshold: z.int().describe('Number of signers required') })
    .nullable(),
  freshness: { class: 'user' },
})
