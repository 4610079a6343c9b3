// builderFills: the fills of orders that came through a builder, newest first, at most 2,000, each with its wallet.
// The next page begins strictly before the oldest `time` of the last one, so fills of one time stay on one page.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { Address } from '../../feed/block.ts'
import { ShownFill } from '../../feed/shown-fill.ts'
import { builderPage } from '../../history/builder-page.ts'
import { aggregateFills } from '../../history/merged-fills.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { FILL, OTHER_USER, USER } from '../shapes/examples.ts'
import { HISTORY_FRESHNESS } from '../shapes/history-shapes.ts'
import { Flag, optional, UserAddress } from '../shapes/request-fields.ts'
import { heldAnswer } from '../sources/own-history.ts'

const ROWS_MAX = 2_000

const BuilderFillsRequest = z.object({
  type: z.literal('builderFills'),
  builder: UserAddress,
  aggregateByTime: Flag,
  cursor: optional(z.string().regex(/^\d{1,15}$/, 'must be a time in Unix milliseconds, as a string')),
})

const { twapId: _, ...shown } = FILL

export const builderFills = defineQuery({
  type: 'builderFills',
  summary: 'The fills that came through a builder',
  example: {
    request: { builder: OTHER_USER },
    response: [{ user: USER, ...shown, builderFee: '0.081307' }],
  },
  request: BuilderFillsRequest,
  response: z.array(ShownFill.extend({ user: Address })),
  price: ONE_CREDIT,
  freshness: HISTORY_FRESHNESS,
  needs: ['history'],
  async resolve({ builder, aggregateByTime, cursor }, { history }) {
    const held = await history.held({ by: 'builder', address: builder })
    if (!held.ok) return held
    const blocks = held.value.runs.flat().map(({ fills }) => (aggregateByTime ? aggregateFills(fills) : fills))
    const page = builderPage(blocks, ROWS_MAX, cursor === undefined ? undefined : Number(cursor))
    return ok(heldAnswer(page, held.value))
  },
})
