// recentTrades: latest trades of a coin, newest first. They come from the fills in the block log; for a rarely traded
// coin, older trades come from an upstream source. Same format as the exchange, which returns ten trades.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { Address, TxHash } from '../../protocol/feed/block.ts'
import { type Trade as TradeRow, tradesOf } from '../../protocol/feed/trades.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { HASH, OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { Market, optional } from '../../protocol/info/request-fields.ts'
import { HISTORY_FRESHNESS } from '../freshness.ts'
import { defineQuery } from '../query.ts'
import { historyAnswer } from '../sources/own-history.ts'
import { passThrough, rowsIn } from '../sources/pass-through.ts'

const ROWS = 10
/** Number of trades in the first frame of a stream. */
const ROWS_MAX = 30

/** `side` is that of the taker; `users` are buyer and seller. */
const Trade = z.looseObject({
  coin: z.string(),
  side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
  px: Decimal,
  sz: Decimal,
  time: z.int(),
  hash: TxHash,
  tid: z.int().describe('Trade id, shared by its two fills'),
  users: z.tuple([Address.describe('Buyer'), Address.describe('Seller')]),
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
  summary: 'Latest trades of a coin, newest first',
  example: { request: { coin: 'BTC' }, response: [EXAMPLE] },
  request: z.object({
    type: z.literal('recentTrades'),
    coin: Market,
    rows: optional(z.int().min(1).max(ROWS_MAX)).describe('Number of trades; absent: ten'),
  }),
  response: () => z.array(Trade),
  freshness: HISTORY_FRESHNESS,
  needs: ['history', 'upstream'],
  async resolve({ type, coin, rows = ROWS }, from) {
    const own = await from.history.newest({ by: 'coin', coin })
    if (!own.ok) return passThrough({ type, coin }, from)
    // Trades before the last gap may be incomplete, so only the last run counts.
    const trades = (own.value.runs.at(-1) ?? []).flatMap(({ fills }) => tradesOf(fills))
    const newest = trades.slice(-rows).reverse()
    if (trades.length >= rows) return ok(historyAnswer(newest, own.value))
    const upstreamTrades = await passThrough({ type, coin }, from)
    if (trades.length === 0 || (upstreamTrades.ok && rows <= ROWS)) return upstreamTrades
    const older = upstreamTrades.ok ? olderThan(newest, rowsIn(upstreamTrades.value.body) ?? []) : []
    return ok(historyAnswer([...newest, ...older].slice(0, rows), own.value))
  },
})

/** Upstream rows older than ours, newest first; the upstream may also return our rows and newer ones. */
function olderThan(newest: readonly TradeRow[], theirs: readonly TradeRow[]): readonly TradeRow[] {
  const since = newest.at(-1)?.time ?? 0
  const known = new Set(newest.map(({ tid }) => tid))
  return theirs.filter(({ time, tid }) => time <= since && !known.has(tid))
}
