// Hashes books for comparison.

import { createHash } from 'node:crypto'
import { canonicalBook } from '../../src/order-books/canonical.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'

/** Hash used by the exchange for its own books. */
export const hashOf = (levels: Levels): string => createHash('sha256').update(canonicalBook(levels)).digest('hex')
