// clearinghouseState: a user's account on one perp DEX.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { PERP_STATE, USER } from '../../protocol/info/examples.ts'
import { WalletAddress } from '../body-fields.ts'
import { onDex, StateDex, userStateChannel } from '../states/user-state.ts'

const TYPE = 'clearinghouseState'

export const clearinghouseState = userStateChannel({
  type: TYPE,
  summary: "A user's account on one perp DEX",
  request: z.strictObject({ type: z.literal(TYPE), user: WalletAddress, dex: StateDex }),
  data: z.object({ dex: z.string(), user: Address, clearinghouseState: PerpState.describe('Perp account') }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, clearinghouseState: PERP_STATE } },
  ask: ({ user, dex }) => ({ type: TYPE, user, ...onDex(dex) }),
  show: ({ user, dex }, { text }) => `{"dex":${JSON.stringify(dex)},"user":"${user}","clearinghouseState":${text}}`,
})
