// What the log handed over, as the lines it is made of. Law: both kinds have a line for each height.

import { fromChunks } from '../../core/chunks.ts'
import type { StoredBlocks } from '../../protocol/feed/archive-api.ts'
import { withPayments } from '../../protocol/feed/payments.ts'
import type { ArchiveLine } from './segment-cutter.ts'

/** What a stored line of books begins with (block-log/segment.ts): the rest, which is nearly all, is not parsed. */
const AFTER_HEAD = ',"px":{'

type Head = Pick<ArchiveLine, 'height' | 'time' | 'epoch'>

/** Throws where the lines are not of the heights that they should be of. */
export function linesOf({ first, last, books, events, payments }: StoredBlocks): ArchiveLine[] {
  const ofBooks = fromChunks(books).split('\n')
  const ofEvents = fromChunks(events).split('\n')
  const count = last - first + 1
  const paid = payments ? fromChunks(payments).split('\n') : Array<string>(count).fill('')
  const counts = [ofBooks.length, ofEvents.length, paid.length]
  if (counts.some((lines) => lines !== count))
    throw new Error(`the log has ${counts.join(', ')} lines of the ${count} blocks from ${first} on`)
  return ofBooks.map((line, at) => {
    const { height, time, epoch } = JSON.parse(`${line.slice(0, line.indexOf(AFTER_HEAD))}}`) as Head
    if (height !== first + at) throw new Error(`the log has block ${height} in the place of ${first + at}`)
    return { height, time, epoch, books: line, events: withPayments(ofEvents[at]!, paid[at]!) }
  })
}
