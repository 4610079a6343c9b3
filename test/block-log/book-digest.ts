// The digest of an order book, as any feeder may compute it.

import { EMPTY_DIGEST, withLevel } from '../../src/block-log/level-digest.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'

export function bookDigest(levels: Levels): number {
  let digest = EMPTY_DIGEST
  for (const side of [0, 1] as const)
    for (const { px, sz, n } of levels[side]) digest = withLevel(digest, side, px, sz, n)
  return digest
}
