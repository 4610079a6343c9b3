// bbo: the best level of each side of a market, in the public server's shape: at once, and then with each block that
// changes it.

import * as z from 'zod'
import { BBO } from '../../order-books/view.ts'
import { CoinName, Level, Millis } from '../../protocol/feed/block.ts'
import { defineViewChannel, ONE_CREDIT } from '../channel.ts'

const Side = Level.nullable()

export const bbo = defineViewChannel({
  type: 'bbo',
  summary: 'The best level of each side of a market, as the public server shows it',
  example: {
    request: { coin: 'BTC' },
    frame: {
      channel: 'bbo',
      data: {
        coin: 'BTC',
        time: 1790000000000,
        bbo: [
          { px: '81307.0', sz: '0.5', n: 2 },
          { px: '81308.0', sz: '1.2', n: 4 },
        ],
      },
    },
  },
  request: z
    .strictObject({
      type: z.literal('bbo'),
      coin: CoinName.describe(
        'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
      ),
    })
    .transform((sent) => ({ coins: [sent.coin], types: [], view: BBO, echo: sent })),
  frame: z.object({
    channel: z.literal('bbo'),
    data: z.object({
      coin: CoinName,
      time: Millis,
      bbo: z
        .tuple([Side.describe('Best bid'), Side.describe('Best ask')])
        .describe('Best bid and best ask; null for an empty side'),
    }),
  }),
  price: ONE_CREDIT,
  source: 'views',
  echo: ({ echo }) => echo,
  by: 'coin',
  isJoint: false,
  encode: ([shown]) =>
    `{"channel":"bbo","data":{"coin":${JSON.stringify(shown!.coin)},"time":${shown!.time},"bbo":${shown!.piece}}}`,
})
