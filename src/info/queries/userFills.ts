// userFills: the last fills of a user, newest first, at most 2,000. Wire-equal.

import * as z from 'zod'
import { ShownFill } from '../../feed/shown-fill.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { FILL, USER } from '../shapes/examples.ts'
import { Flag, UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserFillsRequest = z.object({ type: z.literal('userFills'), user: UserAddress, aggregateByTime: Flag })

export const userFills = defineQuery({
  type: 'userFills',
  summary: 'The last fills of a user',
  example: { request: { user: USER }, response: [FILL] },
  request: UserFillsRequest,
  response: z.array(ShownFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
