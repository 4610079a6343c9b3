// One page of the fills that came through a builder, newest first. Law: fills of one time stay on one page, because
// the next page begins strictly before the oldest time of this one.

import type { Fill, UserFill } from '../protocol/feed/block.ts'
import { NODE_ONLY, without } from './fill-rows.ts'

/** A fill as the info API shows it: with its wallet, without what only the node and the streams tell. */
type BuilderFill = { readonly user: string } & Fill

const NOT_SHOWN = [...NODE_ONLY, 'twapId'] as const

/**
 * The newest fills, at most `rows`; `blocks` are fills by block, oldest first. Of a time with more than `rows` fills the
 * older ones are cut off: no cursor leads into it.
 */
export function builderPage(blocks: readonly (readonly UserFill[])[], rows: number): BuilderFill[] {
  const byTime = Map.groupBy(blocks.flat(), ([, { time }]) => time)
  const page: UserFill[] = []
  for (const entries of [...byTime.values()].toReversed()) {
    const fills = entries.toReversed()
    if (page.length > 0 && page.length + fills.length > rows) break
    page.push(...fills)
  }
  return page.slice(0, rows).map(shown)
}

function shown([user, fill]: UserFill): BuilderFill {
  return { user, ...without(fill, NOT_SHOWN) }
}
