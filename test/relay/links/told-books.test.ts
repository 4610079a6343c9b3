// What clients were told of books, against a hub that begins anew: what does not lead on from it must be known as lost.

import { expect, test } from 'vitest'
import { ToldBooks } from '../../../src/relay/links/hub.client.ts'

type Frame = readonly [height: number, epoch: string | null]

/** A hub told `before`, was asked for a link, and answers that it stands at `at`: which of the frames behind it lose what was told. */
function lostBy(before: readonly Frame[], at: Frame, behind: readonly Frame[]): number[] {
  const books = new ToldBooks()
  for (const frame of before) books.tell(...frame)
  books.attached(books.told, at[1], at[0])
  return behind
    .filter(([height, epoch]) => {
      const isLost = books.isLost(height, epoch)
      books.tell(height, epoch)
      return isLost
    })
    .map(([height]) => height)
}

/** `9a 10-` stands for height 9 in epoch `a`, and height 10 without books. */
const framesIn = (text: string): Frame[] =>
  text.split(' ').map((one) => [Number.parseInt(one, 10), one.endsWith('-') ? null : one.slice(-1)])
const TOLD = framesIn('9a 10a')

test.each<[string, readonly Frame[], Frame, string, number[]]>([
  ['a hub that tells the same again, and goes on', TOLD, [7, 'a'], '8a 9a 10a 11- 12b', []],
  ['one that stands where it stood', TOLD, [10, 'a'], '11- 12b', []],
  ['one that knows of no books where it told some', TOLD, [7, 'a'], '8a 9- 10- 11-', [9]],
  ['the same, before it has answered', TOLD, [10, 'a'], '9-', [9]],
  ['one whose books end below, by a gap', TOLD, [7, 'a'], '8a 20b 21b', [20]],
  ['the same, by a gap and no books', TOLD, [7, 'a'], '20- 21b', [20]],
  ['one that told nothing', [], [7, 'a'], '8- 9b', []],
  ['one that told no books of its last heights', [...TOLD, [11, null]], [7, 'a'], '9a 10a 11-', []],
])('%s', (_, before, at, behind, lost) => {
  expect(lostBy(before, at, framesIn(behind))).toEqual(lost)
})

test('an answer that comes behind a newer frame of books says nothing', () => {
  const books = new ToldBooks()
  books.tell(10, 'a')
  const { told } = books
  books.tell(11, 'a')
  books.attached(told, 'a', 9)
  expect(books.isLost(12, null)).toBe(false)
})
