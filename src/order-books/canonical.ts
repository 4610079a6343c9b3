// The canonical string of a whole book, which is hashed when two parties compare books.

import { trimDecimal } from '../core/decimal.ts'
import type { Levels } from '../protocol/feed/block.ts'

/**
 * Returns compact JSON `[bids,asks]`: levels `{"px","sz","n"}` in this key order, best first, sizes trimmed to at least
 * one decimal. The caller passes each side best first. The book's hash is the SHA-256 (hex) of this string.
 */
export function canonicalBook(levels: Levels): string {
  const side = (levelsOfSide: Levels[0]) =>
    `[${levelsOfSide.map(({ px, sz, n }) => `{"px":${JSON.stringify(px)},"sz":"${trimDecimal(sz)}","n":${n}}`).join(',')}]`
  return `[${side(levels[0])},${side(levels[1])}]`
}
