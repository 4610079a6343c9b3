// Funding that is kept apart from the fills it was paid on, put where it belongs. Law: what a fold needs of a fill is kept,
// and nothing else: thousands are held at once.

import type { Fill } from '../feed/block.ts'
import type { EventBlock, FundingBlock } from '../feed/held-fills.ts'

const FOLDED = [
  ...(['coin', 'px', 'sz', 'side', 'time', 'startPosition'] as const),
  ...(['closedPnl', 'fee', 'crossed', 'builder'] as const),
]

/** A block with as much of its fills as trades are made of. */
export function foldedPart({ fills, ...block }: EventBlock): EventBlock {
  const partOf = (fill: Fill) => Object.fromEntries(FOLDED.map((field) => [field, fill[field]])) as Fill
  return { ...block, fills: fills.map(([user, fill]) => [user, partOf(fill)]) }
}

/** One run of blocks, oldest first, with the funding that was paid within it. */
export function withFunding(run: readonly EventBlock[], paid: readonly FundingBlock[]): EventBlock[] {
  const [first, last] = [run[0]?.height ?? 0, run.at(-1)?.height ?? -1]
  const within = new Map(paid.filter(({ height }) => height >= first && height <= last).map((one) => [one.height, one]))
  const both = run.map((block) => {
    const { funding } = within.get(block.height) ?? block
    within.delete(block.height)
    return { ...block, funding }
  })
  for (const { height, time, funding } of within.values()) both.push({ height, time, funding, fills: [] })
  return both.sort((a, b) => a.height - b.height)
}
