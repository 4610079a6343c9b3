// subAccounts2: the sub-accounts of a master wallet with their states on every DEX that they use, null where the wallet is no
// master. `abstraction` is left out where it is the default. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, PERP_STATE, SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const SubAccounts2Request = z.object({ type: z.literal('subAccounts2'), user: UserAddress })

const SubAccount = z.looseObject({
  name: z.string(),
  subAccountUser: Address,
  master: Address,
  dexToClearinghouseState: z
    .array(
      z.tuple([
        z.string().describe('Name of the DEX; empty: main DEX'),
        PerpState.describe('Perp account on that DEX'),
      ]),
    )
    .describe('Perp accounts by DEX, used ones only'),
  spotState: SpotState,
  abstraction: openEnum('unifiedAccount', 'portfolioMargin', 'disabled', 'dexAbstraction')
    .optional()
    .describe('Account abstraction mode'),
})

export const subAccounts2 = defineQuery({
  type: 'subAccounts2',
  summary: 'The sub-accounts of a master wallet over all DEXes',
  example: {
    request: { user: USER },
    response: [
      {
        name: 'bot',
        subAccountUser: OTHER_USER,
        master: USER,
        dexToClearinghouseState: [['', PERP_STATE]],
        spotState: SPOT_STATE,
        abstraction: 'unifiedAccount',
      },
    ],
  },
  request: SubAccounts2Request,
  response: z.array(SubAccount).nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
