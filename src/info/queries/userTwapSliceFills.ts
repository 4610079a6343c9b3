// userTwapSliceFills: the last fills of a user's TWAP orders, newest first, at most 2,000. Wire-equal; where there
// are files our own, and a source's behind them.

import * as z from 'zod'
import { fillIdOf, sliceRows } from '../../archive/fill-rows.ts'
import { FILL, USER } from '../../protocol/info/examples.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { EVER } from '../sources/own-history.ts'
import { rowsAnswer } from '../sources/own-rows.ts'

const ROWS_MAX = 2_000

export const userTwapSliceFills = defineQuery({
  type: 'userTwapSliceFills',
  summary: "The last fills of a user's TWAP orders",
  example: { request: { user: USER }, response: [{ fill: FILL, twapId: 3 }] },
  request: z.object({ type: z.literal('userTwapSliceFills'), user: UserAddress }),
  response: z.array(TwapSliceFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['past', 'upstream'],
  async resolve(request, from) {
    return rowsAnswer(
      {
        kind: 'fills',
        scope: { by: 'user', address: request.user },
        fromMs: 0,
        toMs: EVER,
        order: 'newest',
        limit: ROWS_MAX,
        rowsOf: ({ fills }) => sliceRows(fills),
        timeOf: ({ fill }) => fill.time,
        idOf: ({ fill }) => fillIdOf(fill),
        asked: request,
      },
      from,
    )
  },
})
