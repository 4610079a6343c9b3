// userFillsByTime: the fills of a user in a window, at most 2,000, oldest first unless `reversed`. Wire-equal;
// where there are files our own, and a source's for what is older.

import * as z from 'zod'
import { fillIdOf, fillRows } from '../../archive/fill-rows.ts'
import { ShownFill } from '../../protocol/feed/shown-fill.ts'
import { FILL, TIME, USER } from '../../protocol/info/examples.ts'
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

export const userFillsByTime = defineQuery({
  type: 'userFillsByTime',
  summary: 'The fills of a user in a window',
  example: { request: { user: USER, startTime: TIME }, response: [FILL] },
  request: z
    .object({
      type: z.literal('userFillsByTime'),
      user: UserAddress,
      startTime: StartTime,
      endTime: EndTime,
      aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
      reversed: Flag.describe('Whether newest come first; absent: oldest first'),
    })
    .refine(isInOrder, REVERSED_WINDOW),
  response: z.array(ShownFill),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['past', 'upstream'],
  async resolve(request, from) {
    const { user, startTime, endTime = EVER, aggregateByTime, reversed } = request
    return rowsAnswer(
      {
        kind: 'fills',
        scope: { by: 'user', address: user },
        order: reversed ? 'newest' : 'oldest',
        fromMs: startTime,
        toMs: endTime,
        limit: ROWS_MAX,
        rowsOf: ({ fills }) => fillRows(fills, aggregateByTime),
        timeOf: ({ time }) => time,
        idOf: (fill) => fillIdOf(fill, aggregateByTime),
        asked: request,
        until: (untilMs) => ({ ...request, endTime: untilMs }),
      },
      from,
    )
  },
})
