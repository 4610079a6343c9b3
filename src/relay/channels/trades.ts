// trades: trades of one market in the public server's shape. The first frame has the latest trades. After that, one
// frame per block has all of its trades.

import * as z from 'zod'
import { Address, CoinName, Decimal, Millis, TxHash } from '../../protocol/feed/block.ts'
import { type Trade, tradesOf } from '../../protocol/feed/trades.ts'
import { MARKET } from '../body-fields.ts'
import { defineEventChannel, type EventView, META_FIELDS, metaText } from '../channel.ts'
import { EXAMPLE_FILL } from './fills.ts'

/**
 * `side` is the taker's and `users` are buyer and seller. `hash` is the taker's, or zero if the taker was a TWAP order.
 */
const TradeRow = z.object({
  coin: CoinName,
  side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
  px: Decimal,
  sz: Decimal,
  time: Millis,
  hash: TxHash,
  tid: z.int().describe('Trade id, shared by its two fills'),
  users: z.tuple([Address.describe('Buyer'), Address.describe('Seller')]),
})

const TRADES: EventView<Trade> = { items: ({ fills }) => tradesOf(fills), text: JSON.stringify }

/** The public server's first frame has this many trades. */
const HISTORY_ROWS = 30

const frame = (pieces: readonly string[], suffix = '') => `{"channel":"trades","data":[${pieces.join(',')}]${suffix}}`
const idOf = ({ coin, tid }: Trade) => `${tid} ${coin}`

const [BUYER, { coin, side, px, sz, time, hash, tid }] = EXAMPLE_FILL

export const trades = defineEventChannel({
  type: 'trades',
  summary: "Trades in one market, in the public server's format",
  example: {
    request: { coin },
    frame: {
      channel: 'trades',
      data: [{ coin, side, px, sz, time, hash, tid, users: [BUYER, `0x${'b2'.repeat(20)}`] }],
    },
  },
  request: z
    .strictObject({
      type: z.literal('trades'),
      coin: MARKET,
    })
    .transform((sent) => [sent.coin]),
  frame: z.object({ channel: z.literal('trades'), data: z.array(TradeRow), ...META_FIELDS }),
  by: 'coin',
  views: [TRADES],
  view: () => TRADES,
  names: (coins) => coins,
  namesOf: (trade) => [trade.coin],
  framing: 'per name',
  encode: (pieces, meta) => frame(pieces, metaText(meta)),
  history: {
    infoRequest: ([coin]) => ({ type: 'recentTrades', coin, rows: HISTORY_ROWS }),
    rows: (answer) => (answer as Trade[]).toReversed().map((trade) => [idOf(trade), trade]),
    idOf,
    encode: (pieces) => frame(pieces),
  },
})
