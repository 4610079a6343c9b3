// GET /v1/{chain}/history/gaps: blocks that never came.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { ONE_CREDIT } from '../../credit/tariff.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { UnixMs } from '../fields.ts'
import { CHAIN_PARAMS, Height, historyOf, limitOf, NEXT } from '../history-shapes.ts'
import { badField } from '../refusal.ts'

const PAGE_MOST = 1_000
const Gap = z
  .object({
    from_height: Height.describe('The first block that is missing'),
    to_height: Height.describe('The last block that is missing'),
    after_ms: UnixMs.describe('Time of the block before, Unix milliseconds'),
    before_ms: UnixMs.describe('Time of the block behind, Unix milliseconds'),
  })
  .meta({ id: 'HistoryGap' })

export const historyGaps = defineEndpoint(
  {
    id: 'historyGaps',
    method: 'get',
    path: '/v1/{chain}/history/gaps',
    summary: 'Blocks that never came, in order of height',
    description:
      'A height between the ends of `coverage` that stands in no gap is archived, or was removed with its day.',
    door: 'key',
    product: 'data',
    price: ONE_CREDIT,
    params: CHAIN_PARAMS,
    query: z.strictObject({
      after: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().describe('`next` of the page before'),
      limit: limitOf(PAGE_MOST, 100),
    }),
    answers: {
      200: {
        description: 'A page of gaps',
        schema: enveloped(z.object({ gaps: z.array(Gap).describe('In order'), next: NEXT })),
        example: inEnvelope({
          gaps: [{ from_height: 925001000, to_height: 925001004, after_ms: 1790000000000, before_ms: 1790000000420 }],
          next: null,
        }),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { chain }, query: { after, limit } }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const found = await history.value.gaps(after ?? null, limit + 1)
    if (found === null) return err(badField('after', 'must be "next" of the page before'))
    const page = found.slice(0, limit)
    const gaps = page.map(({ from, to, afterMs, beforeMs }) => ({
      from_height: from,
      to_height: to,
      after_ms: afterMs,
      before_ms: beforeMs,
    }))
    return reply(200, inEnvelope({ gaps, next: found.length > limit ? String(page.at(-1)!.from) : null }))
  },
)
