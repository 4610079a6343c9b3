// openOrders: open orders of a user on one perp DEX; spot orders belong to the main DEX. Same response as the
// exchange's API except for `cloid`, which is null as specified, while the public API omits it.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { OPEN_ORDER, USER } from '../../protocol/info/examples.ts'
import { OpenOrder } from '../../protocol/info/order-shapes.ts'
import { Dex, UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'
import { passThroughOnDex } from '../sources/known-dex.ts'
import { withCloids } from '../sources/open-cloids.ts'

export const openOrders = defineQuery({
  type: 'openOrders',
  summary: "A user's open orders on one DEX",
  example: { request: { user: USER, dex: '' }, response: [OPEN_ORDER] },
  request: z.object({ type: z.literal('openOrders'), user: UserAddress, dex: Dex }),
  response: () => z.array(OpenOrder),
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes'],
  async resolve(request, from) {
    const result = await passThroughOnDex(request, from)
    return result.ok ? ok({ ...result.value, body: withCloids(result.value.body) }) : result
  },
})
