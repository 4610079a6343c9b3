// builderFills: fills of orders placed through a builder, newest first, at most 2,000, each with its wallet. The next
// page starts strictly before the oldest `time` of this one, so all fills with the same `time` are on one page.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { FILL, OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { TimeCursor } from '../../protocol/info/history-shapes.ts'
import { Flag, UserAddress } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery } from '../query.ts'
import { builderRows } from '../sources/builder-rows.ts'
import { EVER } from '../sources/own-history.ts'

const ROWS_MAX = 2_000

const { twapId: _, ...shown } = FILL

export const builderFills = defineQuery({
  type: 'builderFills',
  summary: 'Fills of orders placed through a builder',
  example: {
    request: { builder: OTHER_USER },
    response: [{ user: USER, ...shown, builderFee: '0.081307' }],
  },
  request: z.object({
    type: z.literal('builderFills'),
    builder: UserAddress.describe('Builder address'),
    aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
    cursor: TimeCursor.describe('Cursor from the previous page; absent: first page'),
  }),
  response: () => z.array(PublicFill.extend({ user: Address })),
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  resolve: ({ builder, aggregateByTime: isAggregated = false, cursor = EVER }, from) =>
    builderRows({ builder, fromMs: 0, toMs: Number(cursor) - 1, isAggregated, limit: ROWS_MAX }, from),
})
