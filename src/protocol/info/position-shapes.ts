// Response shapes of positions that are computed from fills.

import * as z from 'zod'
import { Height } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { optional } from './request-fields.ts'

export const PositionSide = z.enum(['long', 'short'])

export const AtHeight = optional(Height).describe('Height after whose block the positions are returned; absent: now')

/** A position and its last fill, without wallet and coin. */
export const POSITION_FIELDS = {
  side: PositionSide,
  szi: Decimal.describe('Signed size, negative for a short position: exact after the fill at `lastHeight`'),
  lastHeight: z.int().describe('Block of the last known fill'),
  lastTime: z.int().describe('Time of that block, Unix milliseconds'),
  breakHeight: z
    .int()
    .nullable()
    .describe(
      'Block of the last fill, since the position was opened, that does not start where the position was known to be: fills before it are unknown, and from it on `szi` is exact; null: none',
    ),
  breakTime: z.int().nullable().describe('Time of that block'),
  gapAfter: z
    .boolean()
    .describe('Whether blocks after the last known fill are missing, so that the position may have changed since'),
}

export const ONE_POSITION = {
  side: 'long',
  szi: '0.01',
  lastHeight: 41,
  lastTime: 1_790_000_000_000,
  breakHeight: null,
  breakTime: null,
  gapAfter: false,
} as const
