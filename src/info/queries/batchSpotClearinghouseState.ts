// batchSpotClearinghouseState: spot balances of up to 50 users. Each user has one slot with the bytes of
// spotClearinghouseState, or with an error.

import * as z from 'zod'
import { SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { UserBatch } from '../../protocol/info/request-fields.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { defineQuery } from '../query.ts'
import { batch, FailedUser } from '../sources/fan-out.ts'
import { passThrough } from '../sources/pass-through.ts'

export const batchSpotClearinghouseState = defineQuery({
  type: 'batchSpotClearinghouseState',
  summary: 'Spot balances of up to 50 users',
  example: { request: { users: [USER] }, response: [SPOT_STATE] },
  request: z.object({
    type: z.literal('batchSpotClearinghouseState'),
    users: UserBatch,
  }),
  response: () => z.array(z.union([SpotState, FailedUser])),
  freshness: { class: 'user' },
  needs: ['upstream', 'after'],
  upstreamTypes: ['spotClearinghouseState'],
  resolve: ({ users }, from) =>
    batch(users, (user) => passThrough({ type: 'spotClearinghouseState', user }, from), from),
})
