// orderUpdates: what became of the orders of the wallets that are named, all of a block in one frame. Who names one wallet
// by `user` has it in the public server's shape besides, a bare list. Live only: open orders are asked for.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Cloid } from '../../protocol/feed/public-fill.ts'
import { OpenOrder, OrderStatus } from '../../protocol/info/order-shapes.ts'
import { requireOneWalletForm, WALLET_FIELDS, walletsOf } from '../body-fields.ts'
import { defineEventChannel, META_FIELDS, metaText } from '../channel.ts'
import { ORDERS, withoutUsers } from '../events/order-view.ts'

const TYPE = 'orderUpdates'
const USER = `0x${'a1'.repeat(20)}`

/** Without `cloid` where there is none, as the public server has it. */
const Order = OpenOrder.extend({ cloid: Cloid.optional().describe('Client order id') })
const OrderUpdate = z.object({
  order: Order,
  status: OrderStatus,
  statusTimestamp: z.int().describe('Time of the status, Unix milliseconds'),
})

export const orderUpdates = defineEventChannel({
  type: TYPE,
  summary: 'What becomes of the orders of up to 1,000 wallets',
  example: {
    request: { addresses: [USER] },
    frame: {
      channel: TYPE,
      updates: [
        {
          user: USER,
          order: {
            coin: 'BTC',
            side: 'B',
            limitPx: '81307.0',
            sz: '0.0',
            oid: 90001,
            timestamp: 1790000000000,
            origSz: '0.01',
            cloid: `0x${'0d'.repeat(16)}`,
          },
          status: 'filled',
          statusTimestamp: 1790000000000,
        },
      ],
    },
  },
  request: z
    .strictObject({ type: z.literal(TYPE), ...WALLET_FIELDS })
    .superRefine(requireOneWalletForm)
    .transform((sent) => ({ addresses: walletsOf(sent), isOfUser: sent.user !== undefined })),
  frame: z.object({
    channel: z.literal(TYPE),
    updates: z.array(OrderUpdate.extend({ user: Address })).describe('Order updates in node order'),
    /** Where the subscription has `user`: the same without it. */
    data: z.array(OrderUpdate).optional(),
    ...META_FIELDS,
  }),
  by: 'address',
  views: [ORDERS],
  view: () => ORDERS,
  names: ({ addresses }) => addresses,
  namesOf: ({ user }) => [user],
  framing: 'per body',
  encode: (pieces, meta, _, { isOfUser }) => {
    const data = isOfUser ? `,"data":[${withoutUsers(pieces).join(',')}]` : ''
    return `{"channel":"${TYPE}","updates":[${pieces.join(',')}]${data}${metaText(meta)}}`
  },
  needs: 'orders',
})
