// A book as one text that tells whether two are equal.

import { createHash } from 'node:crypto'
import { canonicalBook } from '../../src/order-books/canonical.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'

/** As the exchange hashes its own books. */
export const hashOf = (levels: Levels): string => createHash('sha256').update(canonicalBook(levels)).digest('hex')
