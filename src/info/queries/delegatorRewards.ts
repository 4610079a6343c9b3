// delegatorRewards: staking rewards of a user. Same response as the exchange's API.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const delegatorRewards = ofUserQuery({
  type: 'delegatorRewards',
  summary: 'Staking rewards of a user',
  example: [{ time: TIME, source: 'delegation', totalAmount: '0.5' }],
  response: () =>
    z.array(z.looseObject({ time: z.int(), source: openEnum('delegation', 'commission'), totalAmount: Decimal })),
})
