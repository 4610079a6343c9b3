// userFillsByTime: the fills of a user in a window, at most 2,000, oldest first unless `reversed`. Wire-equal.

import * as z from 'zod'
import { ShownFill } from '../../feed/shown-fill.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { FILL, TIME, USER } from '../shapes/examples.ts'
import { Flag, isInOrder, Moment, optional, REVERSED_WINDOW, UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserFillsByTimeRequest = z
  .object({
    type: z.literal('userFillsByTime'),
    user: UserAddress,
    startTime: Moment,
    endTime: optional(Moment),
    aggregateByTime: Flag,
    reversed: Flag,
  })
  .refine(isInOrder, REVERSED_WINDOW)

export const userFillsByTime = defineQuery({
  type: 'userFillsByTime',
  summary: 'The fills of a user in a window',
  example: { request: { user: USER, startTime: TIME }, response: [FILL] },
  request: UserFillsByTimeRequest,
  response: z.array(ShownFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
