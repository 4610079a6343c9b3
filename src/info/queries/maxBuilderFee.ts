// maxBuilderFee: maximum fee that a user approved for a builder, as an integer in tenths of a basis point; 0: none.
// Same response as the exchange's API.

import * as z from 'zod'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const maxBuilderFee = passThroughQuery({
  type: 'maxBuilderFee',
  summary: 'Maximum fee that a user approved for a builder',
  example: { request: { user: USER, builder: OTHER_USER }, response: 10 },
  request: z.object({
    type: z.literal('maxBuilderFee'),
    user: UserAddress,
    builder: UserAddress.describe('Builder address'),
  }),
  response: () => z.int(),
  freshness: { class: 'user' },
})
