// orderUpdates: order statuses of the named wallets, one frame per block. A subscription with `user` also gets the
// public server's shape, a bare list. Live only; open orders are available from info.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Cloid } from '../../protocol/feed/public-fill.ts'
import { USER } from '../../protocol/info/examples.ts'
import { OpenOrder, OrderStatus } from '../../protocol/info/order-shapes.ts'
import { requireOneWalletForm, WALLET_FIELDS, walletsOf } from '../body-fields.ts'
import { defineEventChannel, META_FIELDS, metaText } from '../channel.ts'
import { ORDERS, withoutUsers } from '../events/order-view.ts'

const TYPE = 'orderUpdates'

/** Without `cloid` if there is none, as on the public server. */
const Order = OpenOrder.extend({ cloid: Cloid.optional().describe('Client order id') })
const OrderUpdate = z.object({
  order: Order,
  status: OrderStatus,
  statusTimestamp: z.int().describe('Status time in Unix milliseconds'),
})

export const orderUpdates = defineEventChannel({
  type: TYPE,
  summary: 'Order status updates of up to 1,000 wallets',
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
    /** For subscriptions with `user`: the same without the user. */
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
