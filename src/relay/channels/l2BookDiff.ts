// l2BookDiff: a Snapshot of every coin first, then the changed levels of each block. No sequence numbers: where a coin's
// continuity is lost its sockets must connect again, because a Snapshot may only come first.

import * as z from 'zod'
import { CoinName, Height, Levels, Millis } from '../../protocol/feed/block.ts'
import { bookMinutePrice, bookRequest } from '../body-fields.ts'
import { type BookChannel, defineBookChannel, type Entry, pieceOf } from '../channel.ts'

const BLOCK = { time: Millis, block_height: Height }
const Snapshot = z.object({ coin: CoinName, ...BLOCK, levels: Levels })
const Updates = z.object({
  ...BLOCK,
  book_diffs: z.array(z.object({ coin: CoinName, levels: Levels })).describe('Changed coins'),
})

const snapshot: NonNullable<BookChannel<unknown>['snapshot']> = ({ coin, time, height, levels }) =>
  `{"channel":"l2BookDiff","data":{"Snapshot":{"coin":${JSON.stringify(coin)},"time":${time},"block_height":${height},"levels":${levels}}}}`

export const l2BookDiff = defineBookChannel({
  type: 'l2BookDiff',
  summary: 'Full-depth books: a Snapshot of each coin, then the changed levels of each block',
  example: {
    request: { coin: 'BTC' },
    frame: {
      channel: 'l2BookDiff',
      data: {
        Updates: {
          time: 1790000000000,
          block_height: 700000001,
          book_diffs: [
            { coin: 'BTC', levels: [[{ px: '81307.0', sz: '0.5', n: 2 }], [{ px: '81310.0', sz: '0', n: 0 }]] },
          ],
        },
      },
    },
  },
  request: bookRequest('l2BookDiff'),
  frame: z.object({ channel: z.literal('l2BookDiff'), data: z.union([z.object({ Snapshot }), z.object({ Updates })]) }),
  price: bookMinutePrice,
  source: 'books',
  snapshot,
  /** A coin's first book is its Snapshot; changes of the others go out as one Updates. */
  encode: ({ height, time, entries }) => {
    const texts: string[] = []
    let pieces = ''
    let broken = false
    for (const entry of entries) {
      if (entry.mark === '!') broken = true
      else if (entry.mark === '+') texts.push(snapshot({ coin: entry.coin, time, height, levels: entry.levels }))
      else pieces += pieces ? `,${piece(entry)}` : piece(entry)
    }
    if (pieces) {
      texts.push(
        `{"channel":"l2BookDiff","data":{"Updates":{"time":${time},"block_height":${height},"book_diffs":[${pieces}]}}}`,
      )
    }
    return { texts, broken }
  },
})

function piece(entry: Entry): string {
  return pieceOf(entry, 'l2BookDiff', ({ coin, levels }) => `{"coin":${JSON.stringify(coin)},"levels":${levels}}`)
}
