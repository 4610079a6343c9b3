// userEvents: events of a user in each block, one frame per kind, on the public server's channel `user`. The public
// `liquidation` has an id that nodes do not write, so here liquidations appear only as fills.

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

/** One frame: all events of one kind of a user in a block, or one funding payment. */
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
    ...(fetched?.funding ?? []).map(({ user, row }) => ({ user, data: { funding: row } })),
  ]
}

const VIEW: EventView<UserEvent> = { items: userEventsOf, text: ({ data }) => JSON.stringify(data) }

const frameOf = <Schema extends z.ZodType>(fill: Schema) =>
  z.object({
    channel: z.literal('user'),
    data: z.union([
      z.object({ fills: z.array(fill) }),
      z.object({ twapSliceFills: z.array(TwapSliceFill) }),
      z.object({ twapHistory: z.array(TwapEvent).describe('TWAP orders with their status') }),
      z.object({
        nonUserCancel: z
          .array(z.object({ coin: z.string(), oid: z.int().describe('Order id') }))
          .describe('Orders that were canceled, but not by the user'),
      }),
      z.object({
        funding: z.looseObject({ time: z.int(), ...FUNDING_AMOUNTS }).describe('Funding payment'),
      }),
    ]),
    ...META_FIELDS,
  })

export const userEvents = defineEventChannel({
  type: TYPE,
  frameName: 'user',
  summary: "A user's fills, TWAP orders, funding, and cancels that the user did not request",
  example: { request: { user: USER }, frame: { channel: 'user', data: { fills: [FILL] } } },
  ...userBody(TYPE),
  frame: frameOf(Fill),
  published: frameOf(NodeFill),
  views: [VIEW],
  view: () => VIEW,
  namesOf: ({ user }) => [user],
  framing: 'per item',
  encode: ([data], meta) => `{"channel":"user","data":${data}${metaText(meta)}}`,
  fetched: 'funding',
  needs: 'orders',
})
