// maxBuilderFee: what a user lets a builder charge, in tenths of a basis point: a bare integer, 0 for nothing. Wire-equal.

import * as z from 'zod'
import { OTHER_USER, USER } from '../examples.ts'
import { passThrough } from '../pass-through.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { UserAddress } from '../request-fields.ts'

const MaxBuilderFeeRequest = z.object({ type: z.literal('maxBuilderFee'), user: UserAddress, builder: UserAddress })

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
