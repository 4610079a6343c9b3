// batchClearinghouseState: the accounts of up to 50 users on one perp DEX, a slot each: the bytes of clearinghouseState,
// or an error. No wildcard: 50 users on every DEX would be hundreds of upstream calls for one price.

import * as z from 'zod'
import { batch, FailedSlot } from '../batch.ts'
import { PERP_STATE, USER } from '../examples.ts'
import { perpState } from '../perp-states.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { OneDex, UserBatch } from '../request-fields.ts'
import { PerpState } from '../shapes.ts'

const BatchClearinghouseStateRequest = z.object({
  type: z.literal('batchClearinghouseState'),
  users: UserBatch,
  dex: OneDex,
})

export const batchClearinghouseState = defineQuery({
  type: 'batchClearinghouseState',
  summary: 'The perp accounts of up to 50 users on one DEX',
  example: { request: { users: [USER] }, response: [PERP_STATE] },
  request: BatchClearinghouseStateRequest,
  response: z.array(z.union([PerpState, FailedSlot])),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes'],
  resolve: ({ users, dex }, from) => batch(users, (user) => perpState({ user, dex }, from)),
})
