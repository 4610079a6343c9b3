// l2BookDiffSnapshot: full order book of a coin with its position in the diff stream. The response is never cached,
// because a client that subscribed before the request must get a book from after its subscription. Calls therefore
// share a read of the hub only if the read started after all of them arrived. With `block_height` or `time` it
// returns a past book, from the archive.

import * as z from 'zod'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { Height } from '../../protocol/feed/block.ts'
import { BookLevels } from '../../protocol/info/common-shapes.ts'
import { LEVELS, TIME } from '../../protocol/info/examples.ts'
import { Market, optional, Timestamp } from '../../protocol/info/request-fields.ts'
import type { PastMoment } from '../ports.ts'
import { defineQuery, HISTORY_PRICE } from '../query.ts'

const L2BookDiffSnapshot = () =>
  z.object({
    coin: z.string(),
    time: z.int(),
    height: z.int().describe('Block height of this state'),
    epoch: z.uuid().describe('Id of an unbroken chain of books; when it changes, sequence numbers restart'),
    seq: z.int().describe('Height of the last change of this book'),
    levels: BookLevels,
  })

interface Moment {
  readonly block_height?: number | undefined
  readonly time?: number | undefined
}

/** Null: the current book. */
function momentOf({ block_height: height, time: timeMs }: Moment): PastMoment | null {
  if (height !== undefined) return { height }
  return timeMs === undefined ? null : { timeMs }
}

export const l2BookDiffSnapshot = defineQuery({
  type: 'l2BookDiffSnapshot',
  summary: 'Full order book of a coin, with its position in the diff stream',
  example: {
    request: { coin: 'BTC' },
    response: {
      coin: 'BTC',
      time: TIME,
      height: 42,
      epoch: '5a1f7a6e-7c0e-4d3b-9a3e-111111111111',
      seq: 41,
      levels: LEVELS,
    },
  },
  request: z
    .object({
      type: z.literal('l2BookDiffSnapshot'),
      coin: Market,
      block_height: optional(Height).describe(
        'Height of a past book, which is read from the archive and priced separately; absent: current book',
      ),
      time: optional(Timestamp).describe(
        'Instead of `block_height`: the book after the last block at or before this time, Unix milliseconds',
      ),
    })
    .refine(({ block_height: height, time }) => height === undefined || time === undefined, {
      path: ['time'],
      message: 'cannot be combined with a height: send one of them',
    }),
  response: () => L2BookDiffSnapshot().nullable(),
  price: (request) => (momentOf(request) === null ? ONE_CREDIT : HISTORY_PRICE),
  freshness: { class: 'none' },
  needs: ['books', 'historicalBooks'],
  resolve: async (request, { books, historicalBooks }) => {
    const { coin } = request
    const moment = momentOf(request)
    const result = await (moment === null ? books.snapshot(coin) : historicalBooks.at(coin, moment))
    if (!result.ok) return result
    if (result.value === null) return { ok: true, value: { body: 'null' } }
    const { levels, height, ...head } = result.value
    const { time, epoch, seq } = head
    const start = JSON.stringify({ coin: head.coin, time, height, epoch, seq })
    // The hub already encoded the levels. Parsing 800 KB here would cost more than the rest of the request.
    return { ok: true, value: { body: `${start.slice(0, -1)},"levels":${levels}}`, height } }
  },
})
