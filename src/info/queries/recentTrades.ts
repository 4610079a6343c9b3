// recentTrades: the last trades of a coin, newest first. From the fills that the log holds; of a coin that has hardly
// traded since, from an upstream. Shown as the exchange shows them, which answers ten; who asks for more gets its rows
// behind our own.

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
/** As many as a stream begins with. */
const ROWS_MAX = 30

/** `side` is the taker's, `users` are buyer and seller. */
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
  summary: 'The last trades of a coin, newest first',
  example: { request: { coin: 'BTC' }, response: [EXAMPLE] },
  request: z.object({
    type: z.literal('recentTrades'),
    coin: Market,
    rows: optional(z.int().min(1).max(ROWS_MAX)).describe('Number of trades; absent: ten'),
  }),
  response: z.array(Trade),
  freshness: HISTORY_FRESHNESS,
  needs: ['history', 'upstream'],
  async resolve({ type, coin, rows = ROWS }, from) {
    const own = await from.history.newest({ by: 'coin', coin })
    if (!own.ok) return passThrough({ type, coin }, from)
    // Before the last hole there may be trades that nobody has told us.
    const trades = (own.value.runs.at(-1) ?? []).flatMap(({ fills }) => tradesOf(fills))
    const newest = trades.slice(-rows).reverse()
    if (trades.length >= rows) return ok(historyAnswer(newest, own.value))
    const asked = await passThrough({ type, coin }, from)
    if (trades.length === 0 || (asked.ok && rows <= ROWS)) return asked
    const older = asked.ok ? olderThan(newest, rowsIn(asked.value.body) ?? []) : []
    return ok(historyAnswer([...newest, ...older].slice(0, rows), own.value))
  },
})

/** Rows of an upstream, newest first, that ours do not show: it may know some of ours, and newer ones. */
function olderThan(newest: readonly TradeRow[], theirs: readonly TradeRow[]): readonly TradeRow[] {
  const since = newest.at(-1)?.time ?? 0
  const known = new Set(newest.map(({ tid }) => tid))
  return theirs.filter(({ time, tid }) => time <= since && !known.has(tid))
}
