// spotState: the spot balances of a user.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { WalletAddress } from '../body-fields.ts'
import { userStateChannel } from '../states/user-state.ts'

const TYPE = 'spotState'

export const spotState = userStateChannel({
  type: TYPE,
  summary: 'The spot balances of a user',
  request: z
    .strictObject({
      type: z.literal(TYPE),
      user: WalletAddress,
      ignorePortfolioMargin: z.boolean().optional().describe('Accepted without effect'),
      // As the public server's documents call it; it is acknowledged by the other name.
      isPortfolioMargin: z.boolean().optional().describe('Accepted without effect'),
    })
    .transform(({ type, user, ignorePortfolioMargin, isPortfolioMargin }) => ({
      type,
      user,
      ignorePortfolioMargin: ignorePortfolioMargin ?? isPortfolioMargin ?? false,
    })),
  data: z.object({ user: Address, spotState: SpotState }),
  example: { request: { user: USER, ignorePortfolioMargin: false }, data: { user: USER, spotState: SPOT_STATE } },
  ask: ({ user }) => ({ type: 'spotClearinghouseState', user }),
  show: ({ user }, { text }) => `{"user":"${user}","spotState":${text}}`,
})
