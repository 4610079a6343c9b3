// Channels of the public server that list what happened to one user: first what was before, then what each block brings.

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

/** So many of the newest rows stand in a first frame: the whole of an answer would be most of a megabyte. */
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
  /** Of an answer, the oldest first. May throw on what is no answer. */
  readonly history: (answer: unknown) => readonly Omit<UserRow, 'user'>[]
  readonly fetched?: 'paid'
  readonly needs?: 'events'
}

/** A channel of one user's rows, with the frames of the public server. */
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
  const frame = (user: Address, pieces: readonly string[], before: string, after = '') =>
    `{"channel":"${type}","data":{${before}"user":"${user}","${list}":[${pieces.join(',')}]}${after}}`
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
        isSnapshot: z.literal(true).optional().describe('True for past entries; false or absent for new ones'),
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
      rows: (answer) =>
        history(answer)
          .slice(-HISTORY_ROWS)
          .map((one) => [one.id, one.row]),
      idOf: ({ id }) => id,
      encode: (pieces, user) => frame(user, pieces, '"isSnapshot":true,'),
    },
  })
}

/** What is past begins so long ago, or a fifth of that where it is too much for an answer, and so on. */
const HISTORY_MS = DAY_MS
/** An answer holds so many payments, the oldest: one that is full lacks the newest. */
const RESPONSE_ROWS = 500

export const userFundings = userRowsChannel({
  type: 'userFundings',
  summary: 'The funding that a user paid and got',
  list: 'fundings',
  row: z.looseObject({ time: z.int(), ...FUNDING_AMOUNTS }),
  example: { user: USER, row: { time: TIME, ...EXAMPLE_FUNDING } },
  rows: ({ fetched }) => fetched?.paid ?? [],
  fetched: 'paid',
  infoRequest: (user, nowMs, tries) => ({
    type: 'userFunding',
    user,
    startTime: Math.ceil(nowMs - HISTORY_MS / 5 ** tries),
  }),
  history: (answer) => {
    const rows = fundingRows(answer)
    if (rows.length >= RESPONSE_ROWS) throw new Error('it does not reach to the present')
    return rows
  },
})

export const userTwapHistory = userRowsChannel({
  type: 'userTwapHistory',
  summary: "What became of a user's TWAP orders",
  list: 'history',
  row: TwapEvent,
  example: {
    user: EXAMPLE_TWAP.user,
    row: { time: EXAMPLE_TWAP.timestamp / 1_000, state: EXAMPLE_TWAP, status: { status: 'finished' }, twapId: 3 },
  },
  needs: 'events',
  rows: twapEvents,
  infoRequest: (user) => ({ type: 'twapHistory', user }),
  history: (answer) =>
    (answer as Parameters<typeof twapEventId>[0][]).map((row) => ({ id: twapEventId(row), row })).reverse(),
})

export const userTwapSliceFills = userRowsChannel({
  type: 'userTwapSliceFills',
  summary: "Fills of the slices of a user's TWAP orders",
  list: 'twapSliceFills',
  row: TwapSliceFill,
  example: { user: USER, row: { fill: FILL, twapId: 3 } },
  rows: ({ fills }) => fills.filter(isSlice).map(sliceRow),
  infoRequest: (user) => ({ type: 'userTwapSliceFills', user }),
  history: (answer) => (answer as { fill: Fill }[]).map((row) => ({ id: fillId(row.fill), row })).reverse(),
})
