// Channels of the public server that list what happened to one user: first what was before, then what each block brings.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { WalletAddress } from '../body-fields.ts'
import {
  defineEventChannel,
  type EventView,
  type InfoQuestion,
  META_FIELDS,
  metaText,
  ONE_CREDIT,
  type UserRow,
} from '../channel.ts'

/** So many of the newest rows stand in a first frame: the whole of an answer would be most of a megabyte. */
const PAST_ROWS = 500

interface UserRowsDefinition<Type extends string, Row extends z.ZodType> {
  readonly type: Type
  readonly summary: string
  /** Name of the list in frames. */
  readonly list: string
  readonly row: Row
  readonly example: { readonly user: string; readonly row: object }
  readonly rows: EventView<UserRow>['items']
  readonly ask: (user: string, nowMs: number, tries: number) => InfoQuestion
  /** Of an answer, the oldest first. May throw on what is no answer. */
  readonly past: (answer: unknown) => readonly Omit<UserRow, 'user'>[]
  readonly late?: 'paid'
  readonly needs?: 'events'
}

/** A channel of one user's rows, with the frames of the public server. */
export function userRowsChannel<const Type extends string, Row extends z.ZodType>({
  type,
  summary,
  list,
  row,
  example,
  rows,
  ask,
  past,
  ...more
}: UserRowsDefinition<Type, Row>) {
  const view: EventView<UserRow> = { items: rows, text: (item) => JSON.stringify(item.row) }
  const frame = (user: string, pieces: readonly string[], before: string, after = '') =>
    `{"channel":"${type}","data":{${before}"user":"${user}","${list}":[${pieces.join(',')}]}${after}}`
  return defineEventChannel({
    ...more,
    type,
    summary,
    example: {
      request: { user: example.user },
      frame: { channel: type, data: { user: example.user, [list]: [example.row] } },
    },
    request: z.strictObject({ type: z.literal(type), user: WalletAddress }).transform(({ user }) => user),
    echo: (user) => ({ type, user }),
    frame: z.object({
      channel: z.literal(type),
      data: z.object({
        isSnapshot: z.literal(true).optional().describe('True for past entries; false or absent for new ones'),
        user: Address,
        [list]: z.array(row),
      }),
      ...META_FIELDS,
    }),
    price: ONE_CREDIT,
    source: 'events',
    by: 'address',
    views: [view],
    view: () => view,
    names: (user) => [user],
    namesOf: ({ user }) => [user],
    framed: 'per name',
    encode: (pieces, meta, user) => frame(user, pieces, '', metaText(meta)),
    past: {
      ask,
      rows: (answer) =>
        past(answer)
          .slice(-PAST_ROWS)
          .map((one) => [one.id, one.row]),
      idOf: ({ id }) => id,
      encode: (pieces, user) => frame(user, pieces, '"isSnapshot":true,'),
    },
  })
}
