// userCompletedTradesByTime: completed trades (round trips) of a wallet in a time window, oldest first. The cursor is
// the close time and ordinal of the last row; a page with fewer than `limit` rows is the last page.

import * as z from 'zod'
import { cursorTime, TRADE_CURSOR, tradePage } from '../../archive/trade-page.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok } from '../../core/result.ts'
import { COMPLETED_TRADE, TIME, USER } from '../../protocol/info/examples.ts'
import { CompletedTrade, hasStart, START_REQUIRED, TradeDex, TradeLimit } from '../../protocol/info/history-shapes.ts'
import { ANY_WINDOW, optional, UserAddress, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery, HISTORY_PRICE } from '../query.ts'
import { historyAnswer } from '../sources/own-history.ts'
import { tradesFrom } from '../sources/own-trades.ts'

const NO_SUCH_ROW: Failure = {
  kind: 'bad_field',
  issues: [{ path: 'cursor', message: 'is after the newest block. Use the last row of the previous page' }],
}

export const userCompletedTradesByTime = defineQuery({
  type: 'userCompletedTradesByTime',
  summary: 'Completed trades of a wallet in a time window, oldest first',
  example: { request: { user: USER, startTime: TIME }, response: [COMPLETED_TRADE] },
  request: withOrderedWindow(
    z
      .object({
        type: z.literal('userCompletedTradesByTime'),
        user: UserAddress,
        ...ANY_WINDOW,
        cursor: optional(z.string().regex(TRADE_CURSOR, 'must be "<close_time>_<tx_index>" of the last row')).describe(
          'Cursor from the previous page; absent: first page',
        ),
        builder: optional(UserAddress).describe('Builder whose trades are returned'),
        dex: TradeDex.describe('Perp DEX whose trades are returned'),
        limit: TradeLimit.describe('Maximum rows per page'),
      })
      .refine(hasStart, START_REQUIRED),
  ),
  response: () => z.array(CompletedTrade),
  price: HISTORY_PRICE,
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  async resolve({ user, limit, ...scope }, from) {
    const filter = { ...scope, startTime: Math.max(scope.startTime ?? 0, cursorTime(scope.cursor)) }
    const own = await tradesFrom({ user, filter, limit }, from)
    if (!own.ok) return own
    if (cursorTime(scope.cursor) > own.value.read.head.time) return err(NO_SUCH_ROW)
    const { rows, omittedTrades } = tradePage(own.value, filter, limit, 'first')
    return ok(historyAnswer(rows, own.value.read, { omittedTrades }))
  },
})
