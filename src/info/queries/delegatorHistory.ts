// delegatorHistory: what a user did with their stake, newest first as the exchange answers. Wire-equal; `delta` has one key,
// its kind, and more kinds may come.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { HASH, OTHER_USER, TIME, USER } from '../shapes/examples.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const DelegatorHistoryRequest = z.object({ type: z.literal('delegatorHistory'), user: UserAddress })

export const delegatorHistory = defineQuery({
  type: 'delegatorHistory',
  summary: 'What a user did with their stake',
  example: {
    request: { user: USER },
    response: [
      { time: TIME, hash: HASH, delta: { delegate: { validator: OTHER_USER, amount: '100.5', isUndelegate: false } } },
    ],
  },
  request: DelegatorHistoryRequest,
  response: z.array(z.looseObject({ time: z.int(), hash: z.string(), delta: z.looseObject({}) })),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
