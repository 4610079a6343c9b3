// batchClearinghouseState: the accounts of up to 50 users on one perp DEX, a slot each: the bytes of clearinghouseState,
// or an error. No wildcard: 50 users on every DEX would be hundreds of upstream calls for one price.

import * as z from 'zod'
import { batch } from '../batch.ts'
import { PERP_STATE, USER } from '../examples.ts'
import { FailedUser } from '../failed-slot.ts'
import { refusalOfDex } from '../known-dex.ts'
import { passThrough } from '../pass-through.ts'
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
  response: z.array(z.union([PerpState, FailedUser])),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes', 'sleep'],
  madeOf: ['clearinghouseState'],
  async resolve({ users, dex }, from) {
    const refusal = await refusalOfDex(dex, from)
    return refusal ?? batch(users, (user) => passThrough({ type: 'clearinghouseState', user, dex }, from), from)
  },
})
