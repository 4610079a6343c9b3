// delegatorRewards: what a user earned by staking. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const delegatorRewards = passThroughQuery({
  type: 'delegatorRewards',
  summary: 'What a user earned by staking',
  example: { request: { user: USER }, response: [{ time: TIME, source: 'delegation', totalAmount: '0.5' }] },
  request: z.object({ type: z.literal('delegatorRewards'), user: UserAddress }),
  response: z.array(
    z.looseObject({ time: z.int(), source: openEnum('delegation', 'commission'), totalAmount: Decimal }),
  ),
  freshness: { class: 'user' },
})
