// delegatorSummary: what a user has staked, and what is on its way out. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const DelegatorSummary = z.looseObject({
  delegated: Decimal,
  undelegated: Decimal,
  totalPendingWithdrawal: Decimal,
  nPendingWithdrawals: z.int(),
})

export const delegatorSummary = passThroughQuery({
  type: 'delegatorSummary',
  summary: 'What a user has staked',
  example: {
    request: { user: USER },
    response: { delegated: '100.5', undelegated: '0.0', totalPendingWithdrawal: '0.0', nPendingWithdrawals: 0 },
  },
  request: z.object({ type: z.literal('delegatorSummary'), user: UserAddress }),
  response: DelegatorSummary,
  freshness: { class: 'user' },
})
