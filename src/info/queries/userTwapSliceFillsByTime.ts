// userTwapSliceFillsByTime: the fills of a user's TWAP orders in a window, newest first, at most 2,000. Wire-equal;
// where there are files our own, and a source's for what is older.

import * as z from 'zod'
import { fillIdOf, sliceRows } from '../../archive/fill-rows.ts'
import { FILL, TIME, USER } from '../../protocol/info/examples.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import {
  EndTime,
  Flag,
  isInOrder,
  REVERSED_WINDOW,
  StartTime,
  UserAddress,
} from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { EVER } from '../sources/own-history.ts'
import { rowsAnswer } from '../sources/own-rows.ts'

const ROWS_MAX = 2_000

export const userTwapSliceFillsByTime = defineQuery({
  type: 'userTwapSliceFillsByTime',
  summary: "The fills of a user's TWAP orders in a window",
  example: { request: { user: USER, startTime: TIME }, response: [{ fill: FILL, twapId: 3 }] },
  request: z
    .object({
      type: z.literal('userTwapSliceFillsByTime'),
      user: UserAddress,
      startTime: StartTime,
      endTime: EndTime,
      aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
    })
    .refine(isInOrder, REVERSED_WINDOW),
  response: z.array(TwapSliceFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['past', 'upstream'],
  async resolve(request, from) {
    const { user, startTime, endTime = EVER, aggregateByTime } = request
    return rowsAnswer(
      {
        kind: 'fills',
        scope: { by: 'user', address: user },
        order: 'newest',
        fromMs: startTime,
        toMs: endTime,
        limit: ROWS_MAX,
        rowsOf: ({ fills }) => sliceRows(fills, aggregateByTime),
        timeOf: ({ fill }) => fill.time,
        idOf: ({ fill }) => fillIdOf(fill, aggregateByTime),
        asked: request,
        until: (untilMs) => ({ ...request, endTime: untilMs }),
      },
      from,
    )
  },
})
