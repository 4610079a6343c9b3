// What a log says of itself, out of its parts.

import { regionOfRelay } from '../core/objects.client.ts'
import type { ReportedAges } from '../protocol/feed/ages.ts'
import type { FeederLinks } from './feeder-links.do.ts'
import type { HeldBlocks } from './held-blocks.do.ts'
import type { ReaderLinks } from './reader-links.do.ts'
import { verdict } from './verdict.ts'

interface Parts {
  readonly held: HeldBlocks
  readonly feeders: FeederLinks
  readonly readers: ReaderLinks
  readonly ages: ReportedAges
}

/** Where it stands, who feeds it and who reads it. */
export function statusOf({ held, feeders, readers, ages }: Parts, nowMs: number) {
  const { chain, durable, time, blockMs } = held
  const place = { ...chain, durable, time, blockMs }
  const views = feeders.views(nowMs)
  return {
    ...verdict({ ...place, isFull: held.isFull }, views, nowMs),
    ...place,
    feeders: views,
    regions: ages.view(nowMs, regionOfRelay),
    readers: [...readers].map((one) => ({ name: one.name, height: one.height < 0 ? null : one.height })),
  }
}
