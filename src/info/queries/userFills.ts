// userFills: latest fills of a user, newest first, at most 2,000. Same response as the exchange's API. Fills come from
// our own files; older ones come from an upstream source.

import * as z from 'zod'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { FILL, USER } from '../../protocol/info/examples.ts'
import { Flag, UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'
import { fillsAnswer } from '../sources/user-fills.ts'

export const userFills = defineQuery({
  type: 'userFills',
  summary: 'Latest fills of a user',
  example: { request: { user: USER }, response: [FILL] },
  request: z.object({
    type: z.literal('userFills'),
    user: UserAddress,
    aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
  }),
  response: () => z.array(PublicFill),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve: (request, from) => fillsAnswer(request, { order: 'newest', isWindowed: false }, from),
})
