// maxBuilderFee: what a user lets a builder charge, in tenths of a basis point: a bare integer, 0 for nothing. Wire-equal.

import * as z from 'zod'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const maxBuilderFee = passThroughQuery({
  type: 'maxBuilderFee',
  summary: 'What a user lets a builder charge',
  example: { request: { user: USER, builder: OTHER_USER }, response: 10 },
  request: z.object({
    type: z.literal('maxBuilderFee'),
    user: UserAddress,
    builder: UserAddress.describe('Builder address'),
  }),
  response: z.int(),
  freshness: { class: 'user' },
})
