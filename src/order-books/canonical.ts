// The one text form of a whole book that is hashed when two parties compare books.

import { trimDecimal } from '../core/decimal.ts'
import type { Levels } from '../protocol/feed/block.ts'

/**
 * Compact JSON `[bids,asks]`, each level `{"px","sz","n"}` in this key order, best first, sizes trimmed to at least
 * one decimal. The caller passes sides already best first; its SHA-256 (hex) is the book's hash.
 */
export function canonicalBook(levels: Levels): string {
  const side = (levelsOfSide: Levels[0]) =>
    `[${levelsOfSide.map(({ px, sz, n }) => `{"px":${JSON.stringify(px)},"sz":"${trimDecimal(sz)}","n":${n}}`).join(',')}]`
  return `[${side(levels[0])},${side(levels[1])}]`
}
