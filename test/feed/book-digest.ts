// The digest of a whole book, as any feeder may compute it.

import type { Levels } from '../../src/feed/block.ts'
import { levelDigest } from '../../src/feed/book-digest.ts'

/** Digest of a whole book, 0 to 2^32 - 1. */
export function bookDigest(levels: Levels): number {
  let sum = 0
  for (const side of [0, 1] as const) for (const level of levels[side]) sum = (sum + levelDigest(side, level)) | 0
  return sum >>> 0
}
