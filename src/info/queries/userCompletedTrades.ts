// userCompletedTrades: latest completed trades (round trips) of a wallet, newest first. For older trades, use
// userCompletedTradesByTime.

import * as z from 'zod'
import { tradePage } from '../../archive/trade-page.ts'
import { ok } from '../../core/result.ts'
import { COMPLETED_TRADE, USER } from '../../protocol/info/examples.ts'
import { CompletedTrade, TradeDex, TradeLimit } from '../../protocol/info/history-shapes.ts'
import { optional, UserAddress } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery, HISTORY_PRICE } from '../query.ts'
import { historyAnswer } from '../sources/own-history.ts'
import { lastTrades } from '../sources/own-trades.ts'

export const userCompletedTrades = defineQuery({
  type: 'userCompletedTrades',
  summary: 'Latest completed trades of a wallet, newest first',
  example: { request: { user: USER }, response: [COMPLETED_TRADE] },
  request: z.object({
    type: z.literal('userCompletedTrades'),
    user: UserAddress,
    builder: optional(UserAddress).describe('Builder whose trades are returned'),
    dex: TradeDex.describe('Perp DEX whose trades are returned'),
    limit: TradeLimit.describe('Maximum rows per page'),
  }),
  response: () => z.array(CompletedTrade),
  price: HISTORY_PRICE,
  freshness: HISTORY_FRESHNESS,
  needs: ['events'],
  async resolve({ user, limit, ...filter }, from) {
    const own = await lastTrades({ user, filter, limit }, from)
    if (!own.ok) return own
    const { rows, omittedTrades } = tradePage(own.value, filter, limit, 'last')
    return ok(historyAnswer(rows.reverse(), own.value.read, { omittedTrades }))
  },
})
