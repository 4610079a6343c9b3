// delegatorSummary: staked amounts and pending withdrawals of a user. Same response as the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const DelegatorSummary = () =>
  z.looseObject({
    delegated: Decimal,
    undelegated: Decimal,
    totalPendingWithdrawal: Decimal,
    nPendingWithdrawals: z.int(),
  })

export const delegatorSummary = ofUserQuery({
  type: 'delegatorSummary',
  summary: "A user's staked amounts and pending withdrawals",
  example: { delegated: '100.5', undelegated: '0.0', totalPendingWithdrawal: '0.0', nPendingWithdrawals: 0 },
  response: DelegatorSummary,
})
