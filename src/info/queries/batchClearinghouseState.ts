// batchClearinghouseState: accounts of up to 50 users on one perp DEX. Each user has one slot with the bytes of
// clearinghouseState, or with an error. There is no wildcard, because 50 users on every DEX would need hundreds of
// upstream calls for one price.

import * as z from 'zod'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { PERP_STATE, USER } from '../../protocol/info/examples.ts'
import { OneDex, UserBatch } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'
import { batch, FailedUser } from '../sources/fan-out.ts'
import { refusalOfDex } from '../sources/known-dex.ts'
import { passThrough } from '../sources/pass-through.ts'

export const batchClearinghouseState = defineQuery({
  type: 'batchClearinghouseState',
  summary: 'Perp accounts of up to 50 users on one DEX',
  example: { request: { users: [USER] }, response: [PERP_STATE] },
  request: z.object({
    type: z.literal('batchClearinghouseState'),
    users: UserBatch,
    dex: OneDex,
  }),
  response: () => z.array(z.union([PerpState, FailedUser])),
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes', 'after'],
  upstreamTypes: ['clearinghouseState'],
  async resolve({ users, dex }, from) {
    const refusal = await refusalOfDex(dex, from)
    return refusal ?? batch(users, (user) => passThrough({ type: 'clearinghouseState', user, dex }, from), from)
  },
})
