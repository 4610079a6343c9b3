// delegatorSummary: what a user has staked, and what is on its way out. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const DelegatorSummaryRequest = z.object({ type: z.literal('delegatorSummary'), user: UserAddress })

const DelegatorSummary = z.looseObject({
  delegated: Decimal,
  undelegated: Decimal,
  totalPendingWithdrawal: Decimal,
  nPendingWithdrawals: z.int(),
})

export const delegatorSummary = defineQuery({
  type: 'delegatorSummary',
  summary: 'What a user has staked',
  example: {
    request: { user: USER },
    response: { delegated: '100.5', undelegated: '0.0', totalPendingWithdrawal: '0.0', nPendingWithdrawals: 0 },
  },
  request: DelegatorSummaryRequest,
  response: DelegatorSummary,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
