// candleSnapshot: candles of a coin that overlap a time window, oldest first, at most 5,000. Same response as the
// exchange's API. The next page starts at the last `T` + 1; a page with fewer than 5,000 candles is the last page, so
// longer results are cut at the newer end. Candles come from our own files; candles for which we may lack trades come
// from an upstream source.

import * as z from 'zod'
import { CoinName } from '../../protocol/feed/block.ts'
import { TIME } from '../../protocol/info/examples.ts'
import { Candle, CandleInterval, EXAMPLE_CANDLE } from '../../protocol/info/market-shapes.ts'
import { WINDOW, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { defineQuery } from '../query.ts'
import { candlesAnswer } from '../sources/own-candles.ts'

const PAGE_MAX = 5_000

export const candleSnapshot = defineQuery({
  type: 'candleSnapshot',
  summary: 'Candles of a coin in a time window, at most 5,000',
  example: {
    request: { req: { coin: 'BTC', interval: '1m', startTime: TIME, endTime: TIME + 60_000 } },
    response: [EXAMPLE_CANDLE],
  },
  request: z.object({
    type: z.literal('candleSnapshot'),
    req: withOrderedWindow(
      z.object({
        coin: CoinName.describe('Market'),
        interval: CandleInterval.describe('Candle interval'),
        ...WINDOW,
      }),
    ).describe('Candles requested'),
  }),
  response: () => z.array(Candle),
  freshness: { class: 'tick' },
  needs: ['events', 'upstream'],
  resolve: (request, from) => candlesAnswer(request, PAGE_MAX, from),
})
