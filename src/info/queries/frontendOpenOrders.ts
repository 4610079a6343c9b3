// frontendOpenOrders: open orders of a user on one DEX, with triggers and attached orders. Wire-equal.

import * as z from 'zod'
import { FRONTEND_ORDER, USER } from '../../protocol/info/examples.ts'
import { FrontendOrder } from '../../protocol/info/order-shapes.ts'
import { Dex, UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const frontendOpenOrders = passThroughOnDexQuery({
  type: 'frontendOpenOrders',
  summary: 'Open orders of a user with triggers and order types',
  example: { request: { user: USER, dex: '' }, response: [FRONTEND_ORDER] },
  request: z.object({ type: z.literal('frontendOpenOrders'), user: UserAddress, dex: Dex }),
  response: z.array(FrontendOrder),
  freshness: { class: 'user' },
})
