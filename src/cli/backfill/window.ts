// The requested range of blocks between two heights or times, inclusive, and the archived part of it.

import * as z from 'zod'
import type { Responses } from '../../console/responses.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { TimeValue } from '../values.ts'

export type Bound = { readonly height: number } | { readonly timeMs: number }

export interface Window {
  readonly from: Bound
  readonly to: Bound
}

export interface BlockPosition {
  readonly height: number
  readonly time: number
}

const HEIGHT_MAX = 999_999_999_999

export const BoundValue: z.ZodType<Bound, string> = z.union(
  [wholeNumber(0, HEIGHT_MAX).transform((height) => ({ height })), TimeValue.transform((timeMs) => ({ timeMs }))],
  'must be a block height in digits, a UTC day such as 2026-11-01 (00:00 UTC), or a time with a time zone such as 2026-11-01T12:00Z',
)

/** Whether the range ends before it starts; false for a height and a time, which are not comparable. */
export function isReversed(from: Bound, to: Bound): boolean {
  return boundValue(to) < boundValue(from) && 'height' in from === 'height' in to
}

/** The position of a block relative to the window. */
export function sideOf(position: BlockPosition, { from, to }: Window): 'before' | 'in' | 'behind' {
  if (coordinateOf(from, position) < boundValue(from)) return 'before'
  return coordinateOf(to, position) > boundValue(to) ? 'behind' : 'in'
}

/** Share of the window up to a block, from 0 to 1. `end` is the first block after the window. */
export function shareOf(position: BlockPosition, { from, to }: Window, end: BlockPosition): number {
  const first = boundValue(from)
  const last =
    'height' in to === 'height' in from ? Math.min(boundValue(to), coordinateOf(from, end)) : coordinateOf(from, end)
  return Math.min(1, Math.max(0, (coordinateOf(from, position) - first) / Math.max(1, last - first)))
}

/** Time bounds of the window in Unix ms; null for bounds that are heights. */
export function timesOf({ from, to }: Window): { readonly fromMs: number | null; readonly toMs: number | null } {
  return { fromMs: 'timeMs' in from ? from.timeMs : null, toMs: 'timeMs' in to ? to.timeMs : null }
}

const boundValue = (bound: Bound): number => ('height' in bound ? bound.height : bound.timeMs)
const coordinateOf = (bound: Bound, { height, time }: BlockPosition): number => ('height' in bound ? height : time)

/** The archived range of a gateway: everything from `from` up to, but not including, `end`, except for the gaps. */
export interface BackfillTarget {
  readonly chain: string
  readonly from: BlockPosition | null
  readonly end: BlockPosition
  readonly gaps: readonly GapState[]
  /** The gateway's clock, Unix ms, which all times of gaps and attempts are from. */
  readonly nowMs: number
}

/** A gap with the attempts at its repair. */
export type GapState = Responses['showBackfill']['gaps'][number]
export type ArchivedGap = Pick<GapState, 'from' | 'to' | 'after_ms' | 'before_ms'>

/** Archived blocks next to missing ones that are sent too, so that the gateway can compare the source with its archive. */
const COMPARED_BLOCKS = 8

export class ArchivedRange {
  readonly #from: BlockPosition | null
  readonly #end: BlockPosition
  readonly #gaps: readonly ArchivedGap[]

  /** Everything from `from` up to, but not including, `end` is archived, except for `gaps`, which are sorted. */
  constructor(from: BlockPosition | null, end: BlockPosition, gaps: readonly ArchivedGap[]) {
    this.#from = from
    this.#end = end
    this.#gaps = gaps
  }

  /** The first height that is not archived yet, and the time of the block below it. */
  get end(): BlockPosition {
    return this.#end
  }

  /** The gap that contains a height; null if there is none. */
  gapOf(height: number): ArchivedGap | null {
    const gap = this.#gapFrom(height)
    return gap !== undefined && height >= gap.from ? gap : null
  }

  has(height: number): boolean {
    if (this.#from === null || height < this.#from.height) return false
    const gap = this.#gapFrom(height)
    return gap === undefined || height < gap.from
  }

  /** Whether a block is missing, or one of the archived blocks next to missing ones. */
  isWanted(height: number): boolean {
    if (this.#from === null || height < this.#from.height + COMPARED_BLOCKS) return true
    const gap = this.#gapFrom(height - COMPARED_BLOCKS)
    return gap !== undefined && height >= gap.from - COMPARED_BLOCKS
  }

  hasAll(first: number, last: number): boolean {
    return this.has(first) && last < (this.#gapFrom(first)?.from ?? Number.POSITIVE_INFINITY)
  }

  /** Whether every block between these times is archived. Blocks may share a time, so the bounds are exclusive. */
  hasTimes(fromMs: number, toMs: number): boolean {
    if (this.#from === null || fromMs <= this.#from.time || toMs > this.#end.time) return false
    return !this.#gaps.some(({ after_ms, before_ms }) => after_ms <= toMs && before_ms >= fromMs)
  }

  /** The first gap that ends at or after a height. */
  #gapFrom(height: number): ArchivedGap | undefined {
    let low = 0
    let high = this.#gaps.length
    while (low < high) {
      const middle = (low + high) >> 1
      // biome-ignore lint/style/noNonNullAssertion: the index is within the search bounds
      if (this.#gaps[middle]!.to < height) low = middle + 1
      else high = middle
    }
    return this.#gaps[low]
  }
}
