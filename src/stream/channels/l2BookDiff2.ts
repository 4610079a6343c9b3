// l2BookDiff2: changed levels with sequence numbers, one frame per block and no Snapshot. A client fetches books by
// `l2BookDiffSnapshot` and sees lost continuity as a `prev_seq` that it does not hold.

import * as z from 'zod'
import { CoinName, Height, Levels, Millis } from '../../feed/block.ts'
import { bookRequest } from '../body-fields.ts'
import { type Entry, pieceOf } from '../books/block-join.ts'
import { bookMinutePrice } from '../books/minute-price.ts'
import { defineBookChannel } from '../channel.ts'

const Updates = z.object({
  time: Millis,
  block_height: Height,
  epoch: z.string(),
  cursor: z.string(),
  book_diffs: z.array(z.object({ coin: CoinName, seq: z.int(), prev_seq: z.int(), levels: Levels })),
})
export type DiffBatchData = z.infer<typeof Updates>

export const l2BookDiff2 = defineBookChannel({
  type: 'l2BookDiff2',
  summary: 'Changed levels of full-depth books with sequence numbers; books come from `l2BookDiffSnapshot`',
  example: {
    request: { coin: 'BTC' },
    frame: {
      channel: 'l2BookDiff2',
      data: {
        Updates: {
          time: 1790000000000,
          block_height: 700000001,
          epoch: '6f1c7a52-5d0f-4b7e-9a53-0d1f0c5e7a11',
          cursor: '700000001',
          book_diffs: [
            { coin: 'BTC', seq: 700000001, prev_seq: 699999998, levels: [[{ px: '81307.0', sz: '0.5', n: 2 }], []] },
          ],
        },
      },
    },
  },
  request: bookRequest('l2BookDiff2'),
  frame: z.object({ channel: z.literal('l2BookDiff2'), data: z.object({ Updates }) }),
  price: bookMinutePrice,
  source: 'books',
  snapshot: null,
  encode: ({ height, time, epoch, entries }) => {
    const pieces = entries.map((entry) => piece(entry, height)).join(',')
    const text = `{"channel":"l2BookDiff2","data":{"Updates":{"time":${time},"block_height":${height},"epoch":${JSON.stringify(epoch ?? '')},"cursor":"${height}","book_diffs":[${pieces}]}}}`
    return { texts: [text], broken: false }
  },
})

function piece(entry: Entry, height: number): string {
  return pieceOf(
    entry,
    'l2BookDiff2',
    ({ coin, prevSeq, levels }) =>
      `{"coin":${JSON.stringify(coin)},"seq":${height},"prev_seq":${prevSeq},"levels":${levels}}`,
  )
}
