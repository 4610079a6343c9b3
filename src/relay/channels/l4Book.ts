// l4Book: every resting order of a coin as a snapshot, then the node's rows of each block. `prev_block_height` proves
// that no block is missing. After a loss, a new snapshot replaces everything.

import * as z from 'zod'
import { Address, CoinName, Decimal, Height, Millis } from '../../protocol/feed/block.ts'
import { Cloid } from '../../protocol/feed/public-fill.ts'
import { NanoTime } from '../../protocol/info/common-shapes.ts'
import { MARKET } from '../body-fields.ts'
import { type L4Channel, ONE_CREDIT } from '../channel.ts'

const TYPE = 'l4Book'

const L4Order = z.looseObject({
  user: Address,
  coin: CoinName,
  side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
  limitPx: Decimal,
  sz: Decimal,
  oid: z.int().describe('Order id'),
  timestamp: Millis.describe('Placement time in Unix milliseconds'),
  triggerCondition: z.string().describe('Trigger condition as a string; `N/A` if there is no trigger'),
  isTrigger: z.boolean().describe('Whether this is a trigger order'),
  triggerPx: Decimal,
  isPositionTpsl: z.boolean().describe('Whether this is a take-profit or stop-loss order for the full position'),
  reduceOnly: z.boolean(),
  orderType: z.string(),
  tif: z.string().nullable().describe('Time in force: `Gtc` rests, `Ioc` never rests, `Alo` only adds liquidity'),
  cloid: Cloid.nullable().describe('Client order id'),
})
const OrderStatus = z.looseObject({
  time: NanoTime,
  user: Address,
  status: z.string(),
  order: L4Order.omit({ user: true }),
})
const BookDiff = z.looseObject({
  user: Address,
  oid: z.int().describe('Order id'),
  coin: CoinName,
  side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
  px: Decimal,
  raw_book_diff: z
    .union([
      z.literal('remove'),
      z.object({ new: z.object({ sz: Decimal }).describe('Order added to the book') }),
      z.object({ update: z.object({ origSz: Decimal, newSz: Decimal }).describe('Size change') }),
    ])
    .describe('Change of the order: `"remove"`, `new` or `update`'),
})
/** The epoch is null while the gateway has no level books. */
const POSITION = {
  time: Millis,
  block_height: Height.describe('Block height of this state'),
  epoch: z.string().nullable().describe('Id of a continuous chain of books. Sequence numbers restart when it changes'),
}
const Snapshot = z.object({
  coin: CoinName,
  ...POSITION,
  levels: z.tuple([z.array(L4Order).describe('Bids, best first'), z.array(L4Order).describe('Asks, best first')]),
})
const BLOCK = {
  ...POSITION,
  prev_block_height: z.int().min(-1).describe('Height of the previous block with rows of this coin'),
}
const Updates = z.object({
  ...BLOCK,
  order_statuses: z.array(OrderStatus).describe('Order statuses as written by the node'),
  book_diffs: z.array(BookDiff).describe('Changed coins'),
})
/** Looser than the published schema: what nodes write must not end a connection. */
const AnyUpdates = z.object({
  ...BLOCK,
  order_statuses: z.array(z.unknown()).describe('Order statuses as written by the node'),
  book_diffs: z.array(z.unknown()).describe('Changed coins'),
})
const framesOf = <T extends z.ZodType>(updates: T) =>
  z.object({
    channel: z.literal(TYPE),
    data: z.union([z.object({ Snapshot }), z.object({ Updates: updates.describe('Changes of one block') })]),
  })

const USER = `0x${'a1'.repeat(20)}`
const ORDER = {
  coin: 'BTC',
  side: 'B',
  limitPx: '81307.0',
  sz: '0.5',
  oid: 90001,
  timestamp: 1790000000000,
  triggerCondition: 'N/A',
  isTrigger: false,
  triggerPx: '0.0',
  isPositionTpsl: false,
  reduceOnly: false,
  orderType: 'Limit',
  tif: 'Alo',
  cloid: null,
} as const

const frame = framesOf(AnyUpdates)

export const l4Book: L4Channel<z.infer<typeof frame>> = {
  type: TYPE,
  summary: 'All orders of a book: a snapshot, then the order statuses and book diffs of each block',
  example: {
    request: { coin: 'BTC' },
    frame: {
      channel: TYPE,
      data: {
        Updates: {
          time: 1790000000000,
          block_height: 700000001,
          prev_block_height: 700000000,
          epoch: '5f0c1d9e-3a52-4c39-9d5f-0b8d6f7a1c11',
          order_statuses: [{ time: '2026-09-21T14:13:20.000000000', user: USER, status: 'open', order: ORDER }],
          book_diffs: [
            { user: USER, oid: 90001, coin: 'BTC', side: 'B', px: '81307.0', raw_book_diff: { new: { sz: '0.5' } } },
          ],
        },
      },
    },
  },
  request: z
    .strictObject({
      type: z.literal(TYPE),
      coin: z
        .string({ error: 'must be one coin. Send one subscription per coin' })
        .pipe(CoinName)
        .describe(MARKET.description ?? ''),
    })
    .transform(({ coin }) => ({ coin })),
  frame,
  published: framesOf(Updates),
  price: 3 * ONE_CREDIT,
  source: 'l4',
  snapshot: (coin, { time, height, epoch }, levels) => {
    const position = `"time":${time},"block_height":${height},"epoch":${JSON.stringify(epoch)}`
    const head = `{"channel":"${TYPE}","data":{"Snapshot":{"coin":${JSON.stringify(coin)},${position},"levels":`
    return [head, ...levels, '}}}'].join('')
  },
  encode: ({ time, height, epoch }, prev, rows) =>
    `{"channel":"${TYPE}","data":{"Updates":{"time":${time},"block_height":${height},"prev_block_height":${prev},"epoch":${JSON.stringify(epoch)},${rows}}}}`,
}
