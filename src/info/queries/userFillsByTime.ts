// userFillsByTime: fills of a user in a time window, at most 2,000, oldest first unless `reversed`. Same response as
// the exchange's API. Fills come from our own files; older ones come from an upstream source.

import * as z from 'zod'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { FILL, TIME, USER } from '../../protocol/info/examples.ts'
import { Flag, UserAddress, WINDOW, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { RowCursor, withOwnCursor } from '../../protocol/info/row-cursor.ts'
import { defineQuery } from '../query.ts'
import { fillsAnswer } from '../sources/user-fills.ts'

export const userFillsByTime = defineQuery({
  type: 'userFillsByTime',
  summary: 'Fills of a user in a time window',
  example: { request: { user: USER, startTime: TIME }, response: [FILL] },
  request: withOwnCursor(
    withOrderedWindow(
      z.object({
        type: z.literal('userFillsByTime'),
        user: UserAddress,
        ...WINDOW,
        aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
        reversed: Flag.describe('Whether the newest fills come first; absent: no'),
        cursor: RowCursor,
      }),
    ),
  ),
  response: () => z.array(PublicFill),
  freshness: { class: 'user' },
  needs: ['events', 'upstream'],
  resolve: (request, from) =>
    fillsAnswer(request, { order: request.reversed ? 'newest' : 'oldest', isWindowed: true }, from),
})
