// l2BookDiff2: changed levels with sequence numbers, one frame per block and no Snapshot. A client fetches books by
// `l2BookDiffSnapshot` and sees lost continuity as a `prev_seq` that it does not hold, and by checksums, where it asks for
// them, that its book is the server's.

import * as z from 'zod'
import { CoinName, Height, Levels, Millis } from '../../protocol/feed/block.ts'
import { bookMinutePrice, bookRequest } from '../body-fields.ts'
import { defineBookChannel, type Entry, pieceOf } from '../channel.ts'

const Updates = z.object({
  time: Millis,
  block_height: Height.describe('Block height of this state'),
  epoch: z.string().describe('Id of an unbroken chain of books; when it changes, sequence numbers restart'),
  cursor: z.string().describe('Block height as text'),
  book_diffs: z
    .array(
      z.object({
        coin: CoinName,
        seq: z.int().describe('Height of the last change of this book'),
        prev_seq: z
          .int()
          .describe('`seq` of the book that this change applies to; −1: chain broken, fetch the book again'),
        levels: Levels,
        checksum: z
          .int()
          .min(0)
          .max(0xffffffff)
          .optional()
          .describe('CRC-32 of the ten best levels a side after this change'),
      }),
    )
    .describe('Changed coins'),
})

export const l2BookDiff2 = defineBookChannel({
  type: 'l2BookDiff2',
  summary: 'Changed levels of full-depth books with sequence numbers; books come from `l2BookDiffSnapshot`',
  example: {
    request: { coin: 'BTC', checksum: true },
    frame: {
      channel: 'l2BookDiff2',
      data: {
        Updates: {
          time: 1790000000000,
          block_height: 700000001,
          epoch: '6f1c7a52-5d0f-4b7e-9a53-0d1f0c5e7a11',
          cursor: '700000001',
          book_diffs: [
            {
              coin: 'BTC',
              seq: 700000001,
              prev_seq: 699999998,
              levels: [[{ px: '81307.0', sz: '0.5', n: 2 }], []],
              checksum: 1851861069,
            },
          ],
        },
      },
    },
  },
  request: bookRequest('l2BookDiff2', true),
  frame: z.object({ channel: z.literal('l2BookDiff2'), data: z.object({ Updates }) }),
  price: bookMinutePrice,
  source: 'books',
  snapshot: null,
  encode: ({ height, time, epoch, entries }, isChecked) => {
    const pieces = entries.map((entry) => `${piece(entry, height)}${isChecked ? checksum(entry) : ''}}`).join(',')
    const text = `{"channel":"l2BookDiff2","data":{"Updates":{"time":${time},"block_height":${height},"epoch":${JSON.stringify(epoch ?? '')},"cursor":"${height}","book_diffs":[${pieces}]}}}`
    return { texts: [text], broken: false }
  },
})

/** Without its end. */
function piece(entry: Entry, height: number): string {
  return pieceOf(
    entry,
    'l2BookDiff2',
    ({ coin, prevSeq, levels }) =>
      `{"coin":${JSON.stringify(coin)},"seq":${height},"prev_seq":${prevSeq},"levels":${levels}`,
  )
}

/** A hub that was not told yet that it is wanted has none: of a block that the snapshot holds. */
function checksum({ checksum: is }: Entry): string {
  return is === undefined ? '' : `,"checksum":${is}`
}
