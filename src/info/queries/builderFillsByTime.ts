// builderFillsByTime: fills of orders placed through a builder in a time window, newest first, at most 2,000, each with
// its wallet. The next page starts strictly before the oldest `time` of this one.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { FILL, OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { hasStart, START_REQUIRED } from '../../protocol/info/history-shapes.ts'
import { ANY_WINDOW, Flag, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { RowOrTimeCursor, withOwnCursor } from '../../protocol/info/row-cursor.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery } from '../query.ts'
import { builderAnswer } from '../sources/builder-rows.ts'

const { twapId: _, ...shown } = FILL

export const builderFillsByTime = defineQuery({
  type: 'builderFillsByTime',
  summary: 'Fills of orders placed through a builder, in a time window',
  example: {
    request: { builder: OTHER_USER, startTime: TIME },
    response: [{ user: USER, ...shown, builderFee: '0.081307' }],
  },
  request: withOwnCursor(
    withOrderedWindow(
      z
        .object({
          type: z.literal('builderFillsByTime'),
          builder: UserAddress.describe('Builder address'),
          ...ANY_WINDOW,
          aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
          cursor: RowOrTimeCursor,
        })
        .refine(hasStart, START_REQUIRED),
    ),
  ),
  response: () => z.array(PublicFill.extend({ user: Address })),
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  resolve: builderAnswer,
})
