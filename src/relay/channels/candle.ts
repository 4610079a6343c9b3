// candle: the current candle of a market in the public server's shape. It is sent once at the start, then at
// most once a second while there are trades, and at the end of the candle.

import * as z from 'zod'
import { Candle, CandleInterval, EXAMPLE_CANDLE } from '../../protocol/info/market-shapes.ts'
import { MARKET } from '../body-fields.ts'
import { defineEventChannel, META_FIELDS, metaText } from '../channel.ts'
import { CANDLE_VIEWS } from '../events/candles.ts'

export const candle = defineEventChannel({
  type: 'candle',
  summary: "Current candle of a market, in the public server's format",
  example: {
    request: { interval: '1m', coin: 'BTC' },
    frame: { channel: 'candle', data: EXAMPLE_CANDLE },
  },
  request: z.strictObject({
    type: z.literal('candle'),
    interval: CandleInterval.describe('Candle interval'),
    coin: MARKET,
  }),
  echo: ({ interval, coin }) => ({ type: 'candle', interval, coin }),
  frame: z.object({ channel: z.literal('candle'), data: Candle, ...META_FIELDS }),
  by: 'coin',
  views: Object.values(CANDLE_VIEWS),
  view: ({ interval }) => CANDLE_VIEWS[interval],
  names: ({ coin }) => [coin],
  namesOf: ({ s }) => [s],
  framing: 'per item',
  encode: ([piece], meta) => `{"channel":"candle","data":${piece}${metaText(meta)}}`,
  fetched: 'candles',
})
