// userToMultiSigSigners: authorized signers and threshold of a multi-sig user; null for other users. Same response as
// the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userToMultiSigSigners = ofUserQuery({
  type: 'userToMultiSigSigners',
  summary: 'Signers of a multi-sig user',
  example: { authorizedUsers: [OTHER_USER], threshold: 1 },
  response: () =>
    z
      .looseObject({ authorizedUsers: z.array(Address), threshold: z.int().describe('Number of signers required') })
      .nullable(),
})
