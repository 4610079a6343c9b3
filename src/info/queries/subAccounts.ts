// subAccounts: the sub-accounts of a master wallet with their states, null where the wallet is no master. Wire-equal.

import * as z from 'zod'
import { OTHER_USER, PERP_STATE, SPOT_STATE, USER } from '../examples.ts'
import { passThrough } from '../pass-through.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { UserAddress } from '../request-fields.ts'
import { PerpState } from '../shapes.ts'
import { SpotState } from '../spot-shapes.ts'

const SubAccountsRequest = z.object({ type: z.literal('subAccounts'), user: UserAddress })

const SubAccount = z.looseObject({
  name: z.string().nullish(),
  subAccountUser: z.string(),
  master: z.string(),
  clearinghouseState: PerpState,
  spotState: SpotState,
})

export const subAccounts = defineQuery({
  type: 'subAccounts',
  summary: 'The sub-accounts of a master wallet',
  example: {
    request: { user: USER },
    response: [
      { name: 'bot', subAccountUser: OTHER_USER, master: USER, clearinghouseState: PERP_STATE, spotState: SPOT_STATE },
    ],
  },
  request: SubAccountsRequest,
  response: z.array(SubAccount).nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
