// recentTrades: the last trades of a coin, newest first. From the fills that the log holds; of a coin that has hardly
// traded since, from an upstream. Shown as the exchange shows them, which answers ten.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { Address, CoinName, TxHash } from '../../feed/block.ts'
import { tradesOf } from '../../feed/trades.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { HASH, OTHER_USER, TIME, USER } from '../shapes/examples.ts'
import { HISTORY_FRESHNESS } from '../shapes/history-shapes.ts'
import { heldAnswer } from '../sources/own-history.ts'
import { passThrough } from '../sources/pass-through.ts'

const ROWS = 10

const RecentTradesRequest = z.object({ type: z.literal('recentTrades'), coin: CoinName })

/** `side` is the taker's, `users` are buyer and seller. */
const Trade = z.looseObject({
  coin: z.string(),
  side: z.enum(['B', 'A']),
  px: Decimal,
  sz: Decimal,
  time: z.int(),
  hash: TxHash,
  tid: z.int(),
  users: z.tuple([Address, Address]),
})

const EXAMPLE = {
  coin: 'BTC',
  side: 'B',
  px: '81307.0',
  sz: '0.01',
  time: TIME,
  hash: HASH,
  tid: 1234567890,
  users: [USER, OTHER_USER],
}

export const recentTrades = defineQuery({
  type: 'recentTrades',
  summary: 'The last trades of a coin, newest first',
  example: { request: { coin: 'BTC' }, response: [EXAMPLE] },
  request: RecentTradesRequest,
  response: z.array(Trade),
  price: ONE_CREDIT,
  freshness: HISTORY_FRESHNESS,
  needs: ['history', 'upstream'],
  async resolve(request, from) {
    const own = await from.history.newest({ by: 'coin', coin: request.coin })
    if (!own.ok) return passThrough(request, from)
    const trades = own.value.runs.flat().flatMap(({ fills }) => tradesOf(fills))
    const newest = ok(heldAnswer(trades.slice(-ROWS).reverse(), own.value))
    if (trades.length >= ROWS) return newest
    const asked = await passThrough(request, from)
    return asked.ok || trades.length === 0 ? asked : newest
  },
})
