// userToMultiSigSigners: who signs for a multi-sig user and how many must, null for any other. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userToMultiSigSigners = ofUserQuery({
  type: 'userToMultiSigSigners',
  summary: 'Who signs for a multi-sig user',
  example: { authorizedUsers: [OTHER_USER], threshold: 1 },
  response: z
    .looseObject({ authorizedUsers: z.array(Address), threshold: z.int().describe('Number of signers required') })
    .nullable(),
})
