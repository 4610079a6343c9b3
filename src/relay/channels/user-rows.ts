// Channels that list events of one user in the public server's shape: history first, then the rows of each block.

import * as z from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { Address, type Fill } from '../../protocol/feed/block.ts'
import { EXAMPLE_FUNDING, FUNDING_AMOUNTS } from '../../protocol/info/account-shapes.ts'
import { FILL, TIME, USER } from '../../protocol/info/examples.ts'
import { TwapSliceFill } from '../../protocol/info/order-shapes.ts'
import { EXAMPLE_TWAP, TwapEvent } from '../../protocol/info/twap-shapes.ts'
import { userBody } from '../body-fields.ts'
import {
  defineEventChannel,
  type EventView,
  type InfoRequest,
  META_FIELDS,
  metaText,
  type UserRow,
} from '../channel.ts'
import { fundingRows } from '../events/funding-payments.ts'
import { fillId, isSlice, sliceRow, twapEventId, twapEvents } from '../events/twap-view.ts'

/** Maximum number of rows in the first frame. A full response would be almost a megabyte. */
const HISTORY_ROWS = 500

interface UserRowsDefinition<Type extends string, Row extends z.ZodType> {
  readonly type: Type
  readonly summary: string
  /** Name of the list in frames. */
  readonly list: string
  readonly row: Row
  readonly example: { readonly user: Address; readonly row: object }
  readonly rows: EventView<UserRow>['items']
  readonly infoRequest: (user: Address, nowMs: number, tries: number) => InfoRequest
  /** Rows of a response, oldest first. May throw on a malformed response. */
  readonly history: (response: unknown) => readonly Omit<UserRow, 'user'>[]
  readonly fetched?: 'funding'
  readonly needs?: 'events'
}

function userRowsChannel<const Type extends string, Row extends z.ZodType>({
  type,
  summary,
  list,
  row,
  example,
  rows,
  infoRequest,
  history,
  ...more
}: UserRowsDefinition<Type, Row>) {
  const view: EventView<UserRow> = { items: rows, text: (item) => JSON.stringify(item.row) }
  const frame = (user: Address, pieces: readonly string[], prefix: string, suffix = '') =>
    `{"channel":"${type}","data":{${prefix}"user":"${user}","${list}":[${pieces.join(',')}]}${suffix}}`
  return defineEventChannel({
    ...more,
    type,
    summary,
    example: {
      request: { user: example.user },
      frame: { channel: type, data: { user: example.user, [list]: [example.row] } },
    },
    ...userBody(type),
    frame: z.object({
      channel: z.literal(type),
      data: z.object({
        isSnapshot: z
          .literal(true)
          .optional()
          .describe('Whether the entries are history; absent or false for new ones'),
        user: Address,
        [list]: z.array(row),
      }),
      ...META_FIELDS,
    }),
    views: [view],
    view: () => view,
    namesOf: ({ user }) => [user],
    framing: 'per name',
    encode: (pieces, meta, user) => frame(user, pieces, '', metaText(meta)),
    history: {
      infoRequest,
      rows: (response) =>
        history(response)
          .slice(-HISTORY_ROWS)
          .map((one) => [one.id, one.row]),
      idOf: ({ id }) => id,
      encode: (pieces, user) => frame(user, pieces, '"isSnapshot":true,'),
    },
  })
}

/** How far back the history starts. Each response that is too large divides this time by five. */
const HISTORY_MS = DAY_MS
/** A response contains up to this many payments, oldest first, so a full response lacks the newest payments. */
const RESPONSE_ROWS = 500

export const userFundings = userRowsChannel({
  type: 'userFundings',
  summary: "A user's funding payments",
  list: 'fundings',
  row: z.looseObject({ time: z.int(), ...FUNDING_AMOUNTS }),
  example: { user: USER, row: { time: TIME, ...EXAMPLE_FUNDING } },
  rows: ({ fetched }) => fetched?.funding ?? [],
  fetched: 'funding',
  infoRequest: (user, nowMs, tries) => ({
    type: 'userFunding',
    user,
    startTime: Math.ceil(nowMs - HISTORY_MS / 5 ** tries),
  }),
  history: (response) => {
    const rows = fundingRows(response)
    if (rows.length >= RESPONSE_ROWS) throw new Error('the response does not reach the present')
    return rows
  },
})

export const userTwapHistory = userRowsChannel({
  type: 'userTwapHistory',
  summary: "Status history of a user's TWAP orders",
  list: 'history',
  row: TwapEvent,
  example: {
    user: EXAMPLE_TWAP.user,
    row: { time: EXAMPLE_TWAP.timestamp / 1_000, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 },
  },
  needs: 'events',
  rows: twapEvents,
  infoRequest: (user) => ({ type: 'twapHistory', user }),
  history: (response) =>
    (response as Parameters<typeof twapEventId>[0][]).map((row) => ({ id: twapEventId(row), row })).reverse(),
})

export const userTwapSliceFills = userRowsChannel({
  type: 'userTwapSliceFills',
  summary: "Slice fills of a user's TWAP orders",
  list: 'twapSliceFills',
  row: TwapSliceFill,
  example: { user: USER, row: { fill: FILL, twapId: 3 } },
  rows: ({ fills }) => fills.filter(isSlice).map(sliceRow),
  infoRequest: (user) => ({ type: 'userTwapSliceFills', user }),
  history: (response) => (response as { fill: Fill }[]).map((row) => ({ id: fillId(row.fill), row })).reverse(),
})
