// batchSpotClearinghouseState: the spot balances of up to 50 users, a slot each: the bytes of spotClearinghouseState,
// or an error.

import * as z from 'zod'
import { batch } from '../batch.ts'
import { SPOT_STATE, USER } from '../examples.ts'
import { FailedUser } from '../failed-slot.ts'
import { passThrough } from '../pass-through.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { UserBatch } from '../request-fields.ts'
import { SpotState } from '../spot-shapes.ts'

const BatchSpotClearinghouseStateRequest = z.object({
  type: z.literal('batchSpotClearinghouseState'),
  users: UserBatch,
})

export const batchSpotClearinghouseState = defineQuery({
  type: 'batchSpotClearinghouseState',
  summary: 'The spot balances of up to 50 users',
  example: { request: { users: [USER] }, response: [SPOT_STATE] },
  request: BatchSpotClearinghouseStateRequest,
  response: z.array(z.union([SpotState, FailedUser])),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream', 'sleep'],
  madeOf: ['spotClearinghouseState'],
  resolve: ({ users }, from) =>
    batch(users, (user) => passThrough({ type: 'spotClearinghouseState', user }, from), from),
})
