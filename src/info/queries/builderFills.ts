// builderFills: fills of orders placed through a builder, newest first, at most 2,000, each with its wallet. The next
// page starts strictly before the oldest `time` of this one, so all fills with the same `time` are on one page.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { FILL, OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { Flag, UserAddress } from '../../protocol/info/request-fields.ts'
import { RowOrTimeCursor, withOwnCursor } from '../../protocol/info/row-cursor.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery } from '../query.ts'
import { builderAnswer } from '../sources/builder-rows.ts'

const { twapId: _, ...shown } = FILL

export const builderFills = defineQuery({
  type: 'builderFills',
  summary: 'Fills of orders placed through a builder',
  example: {
    request: { builder: OTHER_USER },
    response: [{ user: USER, ...shown, builderFee: '0.081307' }],
  },
  request: withOwnCursor(
    z.object({
      type: z.literal('builderFills'),
      builder: UserAddress.describe('Builder address'),
      aggregateByTime: Flag.describe('Whether partial fills of one order are merged; absent: no'),
      cursor: RowOrTimeCursor,
    }),
  ),
  response: () => z.array(PublicFill.extend({ user: Address })),
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  resolve: builderAnswer,
})
