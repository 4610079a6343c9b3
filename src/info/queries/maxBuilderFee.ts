// maxBuilderFee: what a user lets a builder charge, in tenths of a basis point: a bare integer, 0 for nothing. Wire-equal.

import * as z from 'zod'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const MaxBuilderFeeRequest = z.object({
  type: z.literal('maxBuilderFee'),
  user: UserAddress,
  builder: UserAddress.describe('Builder address'),
})

export const maxBuilderFee = defineQuery({
  type: 'maxBuilderFee',
  summary: 'What a user lets a builder charge',
  example: { request: { user: USER, builder: OTHER_USER }, response: 10 },
  request: MaxBuilderFeeRequest,
  response: z.int(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
