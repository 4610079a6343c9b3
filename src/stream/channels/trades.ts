// trades: what changed hands in one market, in the public server's shape; all of a block in one frame, in its order.
// A trade is the pair of fills with one `tid`. A fill without its counterpart (a settlement, dust) is no trade.

import * as z from 'zod'
import { Address, CoinName, type Fill, Millis, type UserFill } from '../../feed/block.ts'
import { defineEventChannel, type EventView, META_FIELDS, metaText, ONE_CREDIT } from '../channel.ts'
import { EXAMPLE_FILL } from '../events/fill-view.ts'

/** `side` is the taker's, `users` are buyer and seller; `hash` is the taker's, zero where a TWAP order took. */
const Trade = z.object({
  coin: CoinName,
  side: z.enum(['B', 'A']),
  px: z.string(),
  sz: z.string(),
  time: Millis,
  hash: z.string(),
  tid: z.int(),
  users: z.tuple([Address, Address]),
})
type Trade = z.infer<typeof Trade>

const TRADES: EventView<Trade> = { items: ({ fills }) => tradesOf(fills), text: JSON.stringify }

/** In the order in which their second fills came. */
function tradesOf(fills: readonly UserFill[]): Trade[] {
  const halves = new Map<string, UserFill>()
  return fills.flatMap((fill) => {
    const id = `${fill[1].tid} ${fill[1].coin}`
    const other = halves.get(id)
    if (other && other[1].side !== fill[1].side) {
      halves.delete(id)
      return [tradeOf(other, fill)]
    }
    halves.set(id, fill)
    return []
  })
}

function tradeOf(one: UserFill, other: UserFill): Trade {
  const [buyer, seller] = one[1].side === 'B' ? [one, other] : [other, one]
  const taker: Fill = seller[1].crossed ? seller[1] : buyer[1]
  const { coin, side, px, sz, time, hash, tid } = taker
  return { coin, side, px, sz, time, hash, tid, users: [buyer[0], seller[0]] }
}

const [BUYER, { coin, side, px, sz, time, hash, tid }] = EXAMPLE_FILL

export const trades = defineEventChannel({
  type: 'trades',
  summary: 'Trades in one market, as the public server shows them',
  example: {
    request: { coin },
    frame: {
      channel: 'trades',
      data: [{ coin, side, px, sz, time, hash, tid, users: [BUYER, `0x${'b2'.repeat(20)}`] }],
    },
  },
  request: z.strictObject({ type: z.literal('trades'), coin: CoinName }).transform((sent) => [sent.coin]),
  frame: z.object({ channel: z.literal('trades'), data: z.array(Trade), ...META_FIELDS }),
  price: ONE_CREDIT,
  source: 'events',
  by: 'coin',
  views: [TRADES],
  view: () => TRADES,
  names: (coins) => coins,
  namesOf: (trade) => [trade.coin],
  framed: 'per name',
  encode: (pieces, meta) => `{"channel":"trades","data":[${pieces.join(',')}]${metaText(meta)}}`,
})
