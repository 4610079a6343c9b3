// candleSnapshot: the candles of a coin that overlap a window, oldest first, at most 5,000. Wire-equal. The next page
// starts at the last `T` + 1; fewer than 5,000 candles are the last page, so a longer answer is cut at its newer end.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { CoinName } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Candle, CandleInterval, EXAMPLE_CANDLE } from '../shapes/candle-shapes.ts'
import { TIME } from '../shapes/examples.ts'
import { isInOrder, Moment, optional, REVERSED_WINDOW } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const PAGE_MAX = 5_000
/** No candle is shorter as text; most answers are known to fit a page by their length alone. */
const CANDLE_MIN_LENGTH = 60

const CandleSnapshotRequest = z.object({
  type: z.literal('candleSnapshot'),
  req: z
    .object({
      coin: CoinName,
      interval: CandleInterval,
      startTime: Moment,
      endTime: optional(Moment),
    })
    .refine(isInOrder, REVERSED_WINDOW),
})

export const candleSnapshot = defineQuery({
  type: 'candleSnapshot',
  summary: 'The candles of a coin in a window, at most 5,000',
  example: {
    request: { req: { coin: 'BTC', interval: '1m', startTime: TIME, endTime: TIME + 60_000 } },
    response: [EXAMPLE_CANDLE],
  },
  request: CandleSnapshotRequest,
  response: z.array(Candle),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  async resolve(request, from) {
    const answer = await passThrough(request, from)
    return answer.ok ? ok({ ...answer.value, body: firstPage(answer.value.body) }) : answer
  },
})

/** The same bytes where they fit a page; candles hold nothing but strings and integers. */
function firstPage(body: string): string {
  if (body.length < PAGE_MAX * CANDLE_MIN_LENGTH) return body
  const candles = JSON.parse(body) as unknown
  return Array.isArray(candles) && candles.length > PAGE_MAX ? JSON.stringify(candles.slice(0, PAGE_MAX)) : body
}
