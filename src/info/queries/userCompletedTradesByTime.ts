// userCompletedTradesByTime: the round trips that a wallet closed in a window, oldest first. A page goes on after the
// last row of the one before, named by its close time and ordinal; fewer than `limit` rows are the last page.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { TRADE_CURSOR, tradesFor } from '../../history/trade-page.ts'
import { defineQuery, HISTORY_PRICE } from '../query.ts'
import { COMPLETED_TRADE, TIME, USER } from '../shapes/examples.ts'
import { CompletedTrade, HISTORY_FRESHNESS, TradeDex, TradeLimit } from '../shapes/history-shapes.ts'
import { isInOrder, Moment, optional, REVERSED_WINDOW, UserAddress } from '../shapes/request-fields.ts'
import { heldAnswer, ownTrades } from '../sources/own-history.ts'

const UserCompletedTradesByTimeRequest = z
  .object({
    type: z.literal('userCompletedTradesByTime'),
    user: UserAddress,
    startTime: optional(Moment),
    endTime: optional(Moment),
    cursor: optional(z.string().regex(TRADE_CURSOR, 'must be "<close_time>_<tx_index>" of the last row')),
    builder: optional(UserAddress),
    dex: TradeDex,
    limit: TradeLimit,
  })
  .refine(({ startTime, cursor }) => startTime !== undefined || cursor !== undefined, {
    path: ['startTime'],
    message: 'is required, unless a cursor is given',
  })
  .refine(isInOrder, REVERSED_WINDOW)

export const userCompletedTradesByTime = defineQuery({
  type: 'userCompletedTradesByTime',
  summary: 'The round trips that a wallet closed in a window, oldest first',
  example: { request: { user: USER, startTime: TIME }, response: [COMPLETED_TRADE] },
  request: UserCompletedTradesByTimeRequest,
  response: z.array(CompletedTrade),
  price: HISTORY_PRICE,
  freshness: HISTORY_FRESHNESS,
  needs: ['history'],
  async resolve({ user, limit, ...filter }, from) {
    const own = await ownTrades(user, from)
    if (!own.ok) return own
    return ok(heldAnswer(tradesFor(own.value.trades, filter).slice(0, limit), own.value.held))
  },
})
