// allMids: the middle price of every coin of a DEX, in the public server's shape. The main DEX comes with spot and
// outcomes. A coin without two sides is shown at its last trade, and not at all before one.

import * as z from 'zod'
import { dexOf, MARKET_TYPES } from '../../core/coin.ts'
import { midsText } from '../../order-books/mids.ts'
import { MID } from '../../order-books/view.ts'
import { Decimal } from '../../protocol/feed/block.ts'
import { Interval, intervalOf } from '../body-fields.ts'
import { defineViewChannel, ONE_CREDIT, type ViewBody } from '../channel.ts'

const EVERY_MS = 1_000

const AllMidsRequest = z
  .strictObject({
    type: z.literal('allMids'),
    dex: z
      .string()
      .regex(/^[\x21-\x7e]{1,64}$/, 'must be the name of a DEX; leave it out for the main one')
      .optional(),
    interval: Interval.optional().describe('Minimum milliseconds between frames; absent: 1,000'),
  })
  .transform((sent): ViewBody => {
    const { dex, interval = EVERY_MS } = sent
    return { coins: null, types: MARKET_TYPES, view: MID, echo: sent, dex, everyMs: intervalOf(interval) }
  })

export const allMids = defineViewChannel({
  type: 'allMids',
  summary: 'The middle price of every coin of a DEX, as the public server shows them',
  example: {
    request: { dex: 'xyz' },
    frame: { channel: 'allMids', data: { dex: 'xyz', mids: { 'xyz:GOLD': '2650.5' } } },
  },
  request: AllMidsRequest,
  frame: z.object({
    channel: z.literal('allMids'),
    data: z.object({ dex: z.string().optional(), mids: z.record(z.string(), Decimal).describe('Mid price by coin') }),
  }),
  price: ONE_CREDIT,
  source: 'views',
  echo: ({ echo }) => echo,
  by: null,
  isJoint: true,
  encode: (pieces, { dex }) => {
    const own = pieces.filter(({ coin, piece }) => piece !== '' && dexOf(coin) === (dex ?? ''))
    const mids = midsText(own.map(({ coin, piece }) => [coin, piece]))
    return `{"channel":"allMids","data":{${dex === undefined ? '' : `"dex":${JSON.stringify(dex)},`}"mids":${mids}}}`
  },
})
