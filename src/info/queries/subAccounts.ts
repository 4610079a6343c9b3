// subAccounts: sub-accounts of a master wallet with their states; null if the wallet is not a master. Same response as
// the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, PERP_STATE, SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const SubAccount = () =>
  z.looseObject({
    name: z.string(),
    subAccountUser: Address,
    master: Address,
    clearinghouseState: PerpState.describe('Perp account'),
    spotState: SpotState,
  })

export const subAccounts = ofUserQuery({
  type: 'subAccounts',
  summary: 'Sub-accounts of a master wallet',
  example: [
    { name: 'bot', subAccountUser: OTHER_USER, master: USER, clearinghouseState: PERP_STATE, spotState: SPOT_STATE },
  ],
  response: () => z.array(SubAccount()).nullable(),
})
