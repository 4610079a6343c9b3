// Attaches separately stored funding to fills. Invariants: only the fields needed to rebuild trades are kept, because
// thousands of fills are in memory at once; between two fills the position is constant, so one number is enough for the
// funding.

import { type Coin, marketTypeOf } from '../core/coin.ts'
import type { CoinFunding, Fill } from '../protocol/feed/block.ts'
import type { BlockRange, EventBlock, HeightAndTime } from '../protocol/feed/durable-api.ts'
import { amountsOf } from './fill-amounts.ts'

const TRADE_FIELDS = [
  ...(['coin', 'px', 'sz', 'side', 'time', 'startPosition'] as const),
  ...(['closedPnl', 'fee', 'crossed', 'builder'] as const),
]

/** A range of blocks, inclusive, during which a coin's position is constant. */
export interface FundingSpan {
  readonly coin: Coin
  readonly from: number
  readonly to: number
}

/** Total funding of the span that starts at `from`. */
export type SpanFunding = CoinFunding & Pick<FundingSpan, 'from'>

/** Returns a block whose fills have only the fields that are needed to rebuild trades. */
export function withTradeFields({ fills, ...block }: EventBlock): EventBlock {
  const partOf = (fill: Fill) => Object.fromEntries(TRADE_FIELDS.map((field) => [field, fill[field]])) as Fill
  return { ...block, fills: fills.map(([user, fill]) => [user, partOf(fill)]) }
}

/** Spans between fills during which a wallet held a position. No span crosses a gap. */
export function positionSpans(runs: readonly (readonly EventBlock[])[]): FundingSpan[] {
  return runs.flatMap((run) => {
    const spans: FundingSpan[] = []
    const lastFills = new Map<string, number>()
    for (const { height, fills } of run)
      for (const [, fill] of fills) {
        const { coin } = fill
        const from = lastFills.get(coin) ?? height
        if (from < height) spans.push({ coin, from, to: height - 1 })
        if (isOpenAfter(fill)) lastFills.set(coin, height)
        else lastFills.delete(coin)
      }
    return spans
  })
}

function isOpenAfter(fill: Fill): boolean {
  const amounts = marketTypeOf(fill.coin) === 'perp' ? amountsOf(fill) : null
  return amounts !== null && !amounts.end.eq(0)
}

/** Adds the funding of each span to the block at which the span starts. */
export function withFunding(
  runs: readonly (readonly EventBlock[])[],
  paid: readonly SpanFunding[],
): readonly (readonly EventBlock[])[] {
  const byHeight = Map.groupBy(paid, ({ from }) => from)
  const addFunding = (block: EventBlock) => {
    const more = byHeight.get(block.height)
    return more ? { ...block, funding: [...block.funding, ...more] } : block
  }
  return runs.map((run) => run.map(addFunding))
}

/**
 * The funding before these blocks, then that of each block, oldest first. Funding that came late is in the last block at or
 * before its time.
 */
export function fundingInPlace(
  blocks: readonly { readonly time: number; readonly funding?: readonly CoinFunding[] }[],
): CoinFunding[][] {
  const placed: CoinFunding[][] = [[], ...blocks.map(() => [])]
  for (const [at, { funding = [] }] of blocks.entries())
    for (const paid of funding) {
      const { time } = paid
      const due = time === undefined ? at : blocks.findLastIndex((block) => block.time <= time)
      placed[due + 1]?.push(paid)
    }
  return placed
}

/** Stored fills of a wallet or a builder. */
export interface FillHistory {
  /** The last block that was searched. */
  readonly head: HeightAndTime
  /** Data is complete from this block to `head`. Older data may be incomplete. */
  readonly since: HeightAndTime
  /** Runs of consecutive blocks, oldest first. The heights between two runs are missing. */
  readonly runs: readonly (readonly EventBlock[])[]
}

/** Joins one or more block ranges, given newest first, where their heights are adjacent. */
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
