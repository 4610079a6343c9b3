// userFills: the last fills of a user, newest first, at most 2,000. Wire-equal; where there are files our own, and a
// source's behind them.

import * as z from 'zod'
import { fillIdOf, fillRows } from '../../archive/fill-rows.ts'
import { ShownFill } from '../../protocol/feed/shown-fill.ts'
import { FILL, USER } from '../../protocol/info/examples.ts'
import { Flag, UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { EVER } from '../sources/own-history.ts'
import { rowsAnswer } from '../sources/own-rows.ts'

const ROWS_MAX = 2_000

export const userFills = defineQuery({
  type: 'userFills',
  summary: 'The last fills of a user',
  example: { request: { user: USER }, response: [FILL] },
  request: z.object({
    type: z.literal('userFills'),
    user: UserAddress,
    aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
  }),
  response: z.array(ShownFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['past', 'upstream'],
  async resolve(request, from) {
    const { user, aggregateByTime } = request
    return rowsAnswer(
      {
        kind: 'fills',
        scope: { by: 'user', address: user },
        fromMs: 0,
        toMs: EVER,
        order: 'newest',
        limit: ROWS_MAX,
        rowsOf: ({ fills }) => fillRows(fills, aggregateByTime),
        timeOf: ({ time }) => time,
        idOf: (fill) => fillIdOf(fill, aggregateByTime),
        asked: request,
      },
      from,
    )
  },
})
