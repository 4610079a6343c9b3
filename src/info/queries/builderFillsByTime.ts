// builderFillsByTime: fills of orders placed through a builder in a time window, newest first, at most 2,000, each with
// its wallet. The next page starts strictly before the oldest `time` of this one.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { FILL, OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { hasStart, START_REQUIRED, TimeCursor } from '../../protocol/info/history-shapes.ts'
import { ANY_WINDOW, Flag, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery } from '../query.ts'
import { builderRows } from '../sources/builder-rows.ts'
import { EVER } from '../sources/own-history.ts'

const ROWS_MAX = 2_000

const { twapId: _, ...shown } = FILL

export const builderFillsByTime = defineQuery({
  type: 'builderFillsByTime',
  summary: 'Fills of orders placed through a builder, in a time window',
  example: {
    request: { builder: OTHER_USER, startTime: TIME },
    response: [{ user: USER, ...shown, builderFee: '0.081307' }],
  },
  request: withOrderedWindow(
    z
      .object({
        type: z.literal('builderFillsByTime'),
        builder: UserAddress.describe('Builder address'),
        ...ANY_WINDOW,
        aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
        cursor: TimeCursor.describe('Cursor from the previous page; absent: first page'),
      })
      .refine(hasStart, START_REQUIRED),
  ),
  response: () => z.array(PublicFill.extend({ user: Address })),
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  resolve: ({ builder, startTime = 0, endTime = EVER, aggregateByTime: isAggregated = false, cursor = EVER }, from) => {
    const toMs = Math.min(endTime, Number(cursor) - 1)
    return builderRows({ builder, fromMs: startTime, toMs, isAggregated, limit: ROWS_MAX }, from)
  },
})
