// subAccounts: the sub-accounts of a master wallet with their states, null where the wallet is no master. Wire-equal.

import * as z from 'zod'
import { Address } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { PerpState } from '../shapes/common-shapes.ts'
import { OTHER_USER, PERP_STATE, SPOT_STATE, USER } from '../shapes/examples.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { SpotState } from '../shapes/spot-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const SubAccountsRequest = z.object({ type: z.literal('subAccounts'), user: UserAddress })

const SubAccount = z.looseObject({
  name: z.string(),
  subAccountUser: Address,
  master: Address,
  clearinghouseState: PerpState.describe('Perp account'),
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
