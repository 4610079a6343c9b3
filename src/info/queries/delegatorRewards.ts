// delegatorRewards: what a user earned by staking. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const DelegatorRewardsRequest = z.object({ type: z.literal('delegatorRewards'), user: UserAddress })

export const delegatorRewards = defineQuery({
  type: 'delegatorRewards',
  summary: 'What a user earned by staking',
  example: { request: { user: USER }, response: [{ time: TIME, source: 'delegation', totalAmount: '0.5' }] },
  request: DelegatorRewardsRequest,
  response: z.array(
    z.looseObject({ time: z.int(), source: openEnum('delegation', 'commission'), totalAmount: Decimal }),
  ),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
