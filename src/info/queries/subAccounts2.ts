// subAccounts2: sub-accounts of a master wallet with their states on every DEX they use; null if the wallet is not a
// master. `abstraction` is omitted for the default mode. Same response as the exchange's API.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
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
    dexToClearinghouseState: z
      .array(
        z.tuple([
          z.string().describe('Name of the DEX; empty: main DEX'),
          PerpState.describe('Perp account on that DEX'),
        ]),
      )
      .describe('Perp account on each DEX that is in use'),
    spotState: SpotState,
    abstraction: openEnum('unifiedAccount', 'portfolioMargin', 'disabled', 'dexAbstraction')
      .optional()
      .describe('Account abstraction mode'),
  })

export const subAccounts2 = ofUserQuery({
  type: 'subAccounts2',
  summary: 'Sub-accounts of a master wallet on all DEXes',
  example: [
    {
      name: 'bot',
      subAccountUser: OTHER_USER,
      master: USER,
      dexToClearinghouseState: [['', PERP_STATE]],
      spotState: SPOT_STATE,
      abstraction: 'unifiedAccount',
    },
  ],
  response: () => z.array(SubAccount()).nullable(),
})
