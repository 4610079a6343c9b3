// frontendOpenOrders: open orders of a user on one DEX, with triggers and attached orders. Same response as the
// exchange's API.

import * as z from 'zod'
import { FRONTEND_ORDER, USER } from '../../protocol/info/examples.ts'
import { FrontendOrder } from '../../protocol/info/order-shapes.ts'
import { Dex, UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const frontendOpenOrders = passThroughOnDexQuery({
  type: 'frontendOpenOrders',
  summary: "A user's open orders, with triggers and order types",
  example: { request: { user: USER, dex: '' }, response: [FRONTEND_ORDER] },
  request: z.object({ type: z.literal('frontendOpenOrders'), user: UserAddress, dex: Dex }),
  response: () => z.array(FrontendOrder),
  freshness: { class: 'user' },
})
