// Funding that is kept apart from the fills it was paid on, put where it belongs. Laws: what a fold needs of a fill is kept,
// and nothing else: thousands are held at once; what was paid from one fill to the next met one position, so that it is one
// number.

import { type Coin, marketTypeOf } from '../core/coin.ts'
import type { CoinFunding, Fill } from '../protocol/feed/block.ts'
import type { BlockRange, EventBlock, HeightAndTime } from '../protocol/feed/durable-api.ts'
import { amountsOf } from './fill-amounts.ts'

const TRADE_FIELDS = [
  ...(['coin', 'px', 'sz', 'side', 'time', 'startPosition'] as const),
  ...(['closedPnl', 'fee', 'crossed', 'builder'] as const),
]

/** Blocks that left one position in a coin, both included. */
export interface FundingSpan {
  readonly coin: Coin
  readonly from: number
  readonly to: number
}

/** All that was paid in the span that begins so. */
export type SpanFunding = CoinFunding & Pick<FundingSpan, 'from'>

/** A block with as much of its fills as trades are made of. */
export function withTradeFields({ fills, ...block }: EventBlock): EventBlock {
  const partOf = (fill: Fill) => Object.fromEntries(TRADE_FIELDS.map((field) => [field, fill[field]])) as Fill
  return { ...block, fills: fills.map(([user, fill]) => [user, partOf(fill)]) }
}

/** Where a wallet held a position from one of its fills to the next; none leads over a hole. */
export function positionSpans(runs: readonly (readonly EventBlock[])[]): FundingSpan[] {
  return runs.flatMap((run) => {
    const spans: FundingSpan[] = []
    const held = new Map<string, number>()
    for (const { height, fills } of run)
      for (const [, fill] of fills) {
        const { coin } = fill
        const from = held.get(coin) ?? height
        if (from < height) spans.push({ coin, from, to: height - 1 })
        if (isOpenAfter(fill)) held.set(coin, height)
        else held.delete(coin)
      }
    return spans
  })
}

function isOpenAfter(fill: Fill): boolean {
  const amounts = marketTypeOf(fill.coin) === 'perp' ? amountsOf(fill) : null
  return amounts !== null && !amounts.end.eq(0)
}

/** Runs with what was paid in their spans, beside what their blocks tell themselves. */
export function withFunding(
  runs: readonly (readonly EventBlock[])[],
  paid: readonly SpanFunding[],
): readonly (readonly EventBlock[])[] {
  const byHeight = Map.groupBy(paid, ({ from }) => from)
  const withIt = (block: EventBlock) => {
    const more = byHeight.get(block.height)
    return more ? { ...block, funding: [...block.funding, ...more] } : block
  }
  return runs.map((run) => run.map(withIt))
}

/** All that is held for a wallet or a builder. */
export interface FillHistory {
  /** The last block that was looked at. */
  readonly head: HeightAndTime
  /** From this block to the head nothing is missing; of what is older, only some may be there. */
  readonly since: HeightAndTime
  /** Oldest first; between two runs are heights that nobody has. */
  readonly runs: readonly (readonly EventBlock[])[]
}

/** Joins stretches, newest first and at least one, where their heights touch. */
export function joinStretches(head: HeightAndTime, stretches: readonly [BlockRange, ...BlockRange[]]): FillHistory {
  const [newest, ...older] = stretches
  let run = { first: newest.first, stretches: [newest] }
  const runs = [run]
  for (const stretch of older) {
    if (stretch.last + 1 !== run.first.height) {
      run = { first: stretch.first, stretches: [stretch] }
      runs.push(run)
    } else {
      run.first = stretch.first
      run.stretches.push(stretch)
    }
  }
  const [{ first: since } = run] = runs
  const blocksOf = (parts: readonly BlockRange[]) => parts.toReversed().flatMap(({ blocks }) => blocks)
  return { head, since, runs: runs.toReversed().map((run) => blocksOf(run.stretches)) }
}
