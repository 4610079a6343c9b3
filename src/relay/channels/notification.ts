// notification: a message for each fill of a user's resting order, in the public server's wording.

import * as z from 'zod'
import type { UserFill } from '../../protocol/feed/block.ts'
import { userBody } from '../body-fields.ts'
import { defineEventChannel, type EventView, META_FIELDS, metaText } from '../channel.ts'
import { EXAMPLE_FILL, FILL_VIEWS } from './fills.ts'

const TYPE = 'notification'

const [, MERGED] = FILL_VIEWS
const RESTING: EventView<UserFill> = {
  items: (block) => MERGED.items(block).filter(([, { crossed }]) => !crossed),
  text: ([, { side, sz, coin, px }]) => {
    const done = side === 'B' ? 'Bought' : 'Sold'
    return JSON.stringify(`Resting order filled: ${done} ${plain(sz)} ${coin} at $${plain(px)}`)
  },
}

/** Removes trailing zeros of a decimal. */
function plain(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}

export const notification = defineEventChannel({
  type: TYPE,
  summary: "Notifications for fills of a user's resting orders",
  example: {
    request: { user: EXAMPLE_FILL[0] },
    frame: { channel: TYPE, data: { notification: 'Resting order filled: Bought 0.01 BTC at $81307' } },
  },
  ...userBody(TYPE),
  frame: z.object({ channel: z.literal(TYPE), data: z.object({ notification: z.string() }), ...META_FIELDS }),
  views: [RESTING],
  view: () => RESTING,
  namesOf: ([user]) => [user],
  framing: 'per item',
  encode: ([message], meta) => `{"channel":"${TYPE}","data":{"notification":${message}}${metaText(meta)}}`,
})
