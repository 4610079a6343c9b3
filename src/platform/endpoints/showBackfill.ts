// GET /admin/history/backfill.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { Height } from '../../feed/block.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { NO_ARCHIVE } from '../refusal.ts'

const HeightText = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a height, in digits alone')
  .transform(Number)

const Place = z
  .object({ height: Height.describe('Height of the block'), time: UnixMs.describe('Its time, Unix milliseconds') })
  .nullable()

const Gap = z.object({
  from: Height.describe('First height that is missing'),
  to: Height.describe('Last height that is missing'),
  after_ms: UnixMs.describe('Time of the block before, Unix milliseconds'),
  before_ms: UnixMs.describe('Time of the block behind, Unix milliseconds'),
})

export const showBackfill = defineEndpoint(
  {
    id: 'showBackfill',
    method: 'get',
    path: '/admin/history/backfill',
    summary: 'What the archive has, for who fills it with what is older',
    description:
      'All heights from `from` up to `before` are there, but for those of `gaps`, of which an answer has 1,000.',
    door: 'admin',
    query: z.strictObject({
      after: HeightText.optional().describe('Gaps from this height on: `next` of the last answer'),
    }),
    answers: {
      200: {
        description: 'What there is',
        schema: z.object({
          chain: z.string().describe('Name of the chain'),
          from: Place.describe('The first block of all; null where there is none'),
          before: Place.describe('The first block that the log archived: older ones are taken; null: none are yet'),
          gaps: z.array(Gap).describe('Heights below `before` that are missing, in order'),
          next: Height.nullable().describe('The `after` of the next answer; null: these were all gaps'),
        }),
        example: {
          chain: 'hyperliquid',
          from: { height: 985148182, time: 1778002753024 },
          before: { height: 1030773868, time: 1781139602896 },
          gaps: [{ from: 985149000, to: 1030773867, after_ms: 1778002807000, before_ms: 1781139602896 }],
          next: null,
        },
      },
    },
    refusals: [],
  },
  async ({ query: { after = 0 } }, { archive }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const { gaps, ...state } = await archive.state(after)
    const told = gaps.map(({ from, to, afterMs, beforeMs }) => ({ from, to, after_ms: afterMs, before_ms: beforeMs }))
    return reply(200, { chain: archive.chain, ...state, gaps: told })
  },
)
