// Follows books with examples/book.ts and prints a line per state: coin, epoch, seq and hash of the levels. A separate
// program, because the example never ends.

import { type Book, followBook, sorted } from '../../examples/book.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { hashOf } from '../kit/book-hash.ts'

/** Name of a book state: `<coin> <epoch> <seq> <hash>`. */
export function stateOf(coin: string, { epoch, seq }: Pick<Book, 'epoch' | 'seq'>, levels: Levels): string {
  return `${coin} ${epoch} ${seq} ${hashOf(levels)}`
}

if (import.meta.main) {
  const { WEIR_URL = '', WEIR_KEY = '' } = process.env
  for (const coin of process.argv.slice(2))
    followBook(WEIR_URL, WEIR_KEY, coin, (book) => {
      console.log(book ? stateOf(coin, book, sorted(book.sides)) : `${coin} lost`)
    })
}
