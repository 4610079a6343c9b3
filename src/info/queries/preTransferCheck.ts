// preTransferCheck: facts about `user` before a transfer from `source`; a transfer to a new wallet costs a fee. Same
// response as the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const preTransferCheck = passThroughQuery({
  type: 'preTransferCheck',
  summary: 'Facts to check about a recipient before a transfer',
  example: {
    request: { user: USER, source: OTHER_USER },
    response: { fee: '1.0', isSanctioned: false, userExists: false, userHasSentTx: false },
  },
  request: z.object({
    type: z.literal('preTransferCheck'),
    user: UserAddress.describe('Recipient'),
    source: UserAddress.describe('Sender'),
  }),
  response: () =>
    z.looseObject({
      fee: Decimal.describe('Fee of the sender for a new wallet'),
      isSanctioned: z.boolean(),
      userExists: z.boolean(),
      userHasSentTx: z.boolean(),
    }),
  freshness: { class: 'user' },
})
