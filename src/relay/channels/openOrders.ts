// openOrders: the resting orders of a user on one perp DEX, with triggers and attached orders; spot orders come with the
// main DEX.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { FRONTEND_ORDER, USER } from '../../protocol/info/examples.ts'
import { FrontendOrder } from '../../protocol/info/order-shapes.ts'
import { WalletAddress } from '../body-fields.ts'
import { onDex, StateDex, userStateChannel } from '../states/user-state.ts'

const TYPE = 'openOrders'

export const openOrders = userStateChannel({
  type: TYPE,
  summary: 'The resting orders of a user on one perp DEX',
  request: z.strictObject({ type: z.literal(TYPE), user: WalletAddress, dex: StateDex }),
  data: z.object({ dex: z.string(), user: Address, orders: z.array(FrontendOrder) }),
  example: { request: { user: USER, dex: '' }, data: { dex: '', user: USER, orders: [FRONTEND_ORDER] } },
  ask: ({ user, dex }) => ({ type: 'frontendOpenOrders', user, ...onDex(dex) }),
  show: ({ user, dex }, { text }) => `{"dex":${JSON.stringify(dex)},"user":"${user}","orders":${text}}`,
})
