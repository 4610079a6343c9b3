// userEvents: what happened to a user in each block, a frame of each kind, on the public server's channel `user`. That
// server's `liquidation` has an id that nodes do not write: here a liquidation shows in its fills alone.

import * as z from 'zod'
import { type Address, Fill, type UserFill } from '../../protocol/feed/block.ts'
import { FUNDING_AMOUNTS } from '../../protocol/info/account-shapes.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import { TwapEvent } from '../../protocol/info/twap-shapes.ts'
import { userBody } from '../body-fields.ts'
import {
  type BlockEvents,
  defineEventChannel,
  type EventView,
  META_FIELDS,
  metaText,
  type UserRow,
} from '../channel.ts'
import { nonUserCancels } from '../events/order-view.ts'
import { isSlice, sliceRow, twapEvents } from '../events/twap-view.ts'
import { EXAMPLE_FILL, NodeFill } from './fills.ts'

const TYPE = 'userEvents'
const [USER, FILL] = EXAMPLE_FILL

/** What becomes one frame: all of one kind that a block holds of a user, but each funding payment by itself. */
interface UserEvent {
  readonly user: Address
  readonly data: object
}

const fillRow = ([user, fill]: UserFill): UserRow => ({ user, id: '', row: fill })

function ofKind(kind: string, rows: readonly UserRow[]): UserEvent[] {
  return [...Map.groupBy(rows, ({ user }) => user)].map(([user, own]) => ({
    user,
    data: { [kind]: own.map(({ row }) => row) },
  }))
}

function userEventsOf(block: BlockEvents): UserEvent[] {
  const { fills, fetched } = block
  return [
    ...ofKind('fills', fills.filter((fill) => !isSlice(fill)).map(fillRow)),
    ...ofKind('twapSliceFills', fills.filter(isSlice).map(sliceRow)),
    ...ofKind('twapHistory', twapEvents(block)),
    ...ofKind('nonUserCancel', nonUserCancels(block)),
    ...(fetched?.paid ?? []).map(({ user, row }) => ({ user, data: { funding: row } })),
  ]
}

const VIEW: EventView<UserEvent> = { items: userEventsOf, text: ({ data }) => JSON.stringify(data) }

const frameOf = <Shown extends z.ZodType>(fill: Shown) =>
  z.object({
    channel: z.literal('user'),
    data: z.union([
      z.object({ fills: z.array(fill) }),
      z.object({ twapSliceFills: z.array(TwapSliceFill) }),
      z.object({ twapHistory: z.array(TwapEvent).describe('TWAP orders with their status') }),
      z.object({
        nonUserCancel: z
          .array(z.object({ coin: z.string(), oid: z.int().describe('Order id') }))
          .describe('Orders canceled by others than the user'),
      }),
      z.object({
        funding: z.looseObject({ time: z.int(), ...FUNDING_AMOUNTS }).describe('Funding rate of the current hour'),
      }),
    ]),
    ...META_FIELDS,
  })

export const userEvents = defineEventChannel({
  type: TYPE,
  frameName: 'user',
  summary: 'Fills, TWAP orders, orders ended by others and funding of a user',
  example: { request: { user: USER }, frame: { channel: 'user', data: { fills: [FILL] } } },
  ...userBody(TYPE),
  frame: frameOf(Fill),
  published: frameOf(NodeFill),
  views: [VIEW],
  view: () => VIEW,
  namesOf: ({ user }) => [user],
  framing: 'per item',
  encode: ([data], meta) => `{"channel":"user","data":${data}${metaText(meta)}}`,
  fetched: 'paid',
  needs: 'orders',
})
