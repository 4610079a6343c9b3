// Files and a log made of a plain list of blocks, cut wherever a test likes.

import fc from 'fast-check'
import { ok } from '../../src/core/result.ts'
import type { UserFill } from '../../src/feed/block.ts'
import type { EventBlock } from '../../src/feed/held-fills.ts'
import { ArchiveDamage } from '../../src/history/archive/archive-damage.ts'
import type { FilesBlock, FilesCover, FilesRequest } from '../../src/history/files/files-read.ts'
import type { FundedFiles } from '../../src/history/files/funding-read.ts'
import type { HeldFills } from '../../src/history/held-runs.ts'
import type { Past } from '../../src/info/ports.ts'
import { FILL, USER } from '../../src/info/shapes/examples.ts'
import { pastOf } from '../../src/info/sources/past.ts'

type Gap = FilesCover['gaps'][number]

/** Blocks of one scope, oldest first; heights from 1 on. */
export interface Kept {
  readonly blocks: readonly EventBlock[]
  readonly head: { readonly height: number; readonly time: number }
  /** Files hold up to here; null: there are none yet. */
  readonly filesTo: number | null
  /** … and from here on, 1 where it is left out. */
  readonly filesFrom?: number
  /** The log holds from here on. */
  readonly logFrom: number
  readonly gaps?: readonly Gap[]
  /** Of the files' blocks this one cannot be read. */
  readonly damaged?: number
  /** Whether the files have funding. */
  readonly isFunded?: boolean
}

const FIRST = { height: 1, time: 0 }
const firstOf = (kept: Kept) => ({ height: kept.filesFrom ?? FIRST.height, time: timeOf(kept, kept.filesFrom ?? 0) })
const rowsIn = ({ fills, ledger = [] }: EventBlock) => fills.length + ledger.length

/** Time of a height: of its block, or of the next below that has one. */
function timeOf({ blocks }: Kept, height: number): number {
  return blocks.findLast((block) => block.height <= height)?.time ?? FIRST.time
}

export function logOf(kept: Kept): HeldFills {
  const { blocks, head, logFrom } = kept
  const since = { height: logFrom, time: timeOf(kept, logFrom) }
  return { head, since, runs: [blocks.filter(({ height }) => height >= logFrom)] }
}

/** Files of what `kept` gives at the time; `asked` collects requests. */
export function filesOf(kept: () => Kept, asked: FilesRequest[] = []): FundedFiles {
  const rows = ({ fromMs, toMs, upTo, order, limit }: FilesRequest) => {
    const { blocks, filesTo, gaps = [], damaged } = kept()
    const first = firstOf(kept())
    const found = blocks.filter(
      (block) =>
        block.height >= first.height &&
        block.height <= Math.min(upTo, filesTo ?? -1) &&
        block.time >= fromMs &&
        block.time <= toMs &&
        rowsIn(block) > 0 &&
        !gaps.some(({ from, to }) => from <= block.height && block.height <= to),
    )
    const ordered = order === 'newest' ? found.toReversed() : found
    let count = 0
    const page = ordered.filter((block) => {
      if (count >= limit) return false
      count += rowsIn(block)
      return true
    })
    if (page.some(({ height }) => height === damaged)) throw new ArchiveDamage('a file', 'missing')
    const blocksOfPage = page.map((block) => ({ ...block, funding: [] }) as unknown as FilesBlock)
    return { blocks: blocksOfPage, isEnd: page.length === ordered.length }
  }
  return {
    async cover() {
      const { filesTo, gaps = [] } = kept()
      return filesTo === null
        ? null
        : { from: firstOf(kept()), to: { height: filesTo, time: timeOf(kept(), filesTo) }, gaps }
    },
    async rows(request) {
      asked.push(request)
      return rows(request)
    },
    ...(kept().isFunded && {
      async funding(coins: readonly string[], from: number, to: number) {
        const paid = kept().blocks.filter(({ height, funding }) => height >= from && height <= to && funding.length > 0)
        return paid.map(({ height, time, funding }) => ({
          ...{ height, time },
          funding: funding.filter(({ coin }) => coins.includes(coin)),
        }))
      },
    }),
  }
}

/** A past over that, and an archive that knows when each height came. */
export function pastOfKept(kept: () => Kept, asked: FilesRequest[] = []): Past {
  const history = { held: async () => ok(logOf(kept())) }
  const segmentsFrom = async (at: object) => {
    const first = (at as { height: number }).height
    return [{ chain: 'c', first, last: first, firstMs: timeOf(kept(), first), lastMs: 0, epoch: null }]
  }
  return pastOf({ history, files: filesOf(kept, asked), archive: { segmentsFrom }, after: () => () => {} })
}

/** The fills of many blocks, many of which share a time; heights are one to three apart. */
export const blocksOfFills = (own: object = {}) =>
  fc
    .array(
      fc.record({
        up: fc.integer({ min: 1, max: 3 }),
        ms: fc.integer({ min: 0, max: 1 }),
        rows: fc.integer({ min: 1, max: 3 }),
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((steps) => {
      let [height, time] = [0, 10]
      return steps.map(({ up, ms, rows }) => {
        height += up
        time += ms
        return blockOf(height, time, rows, own)
      })
    })

export function blockOf(height: number, time: number, rows = 1, own: object = {}): EventBlock {
  const fill = (_: unknown, n: number): UserFill => [
    USER,
    { ...FILL, side: 'B', ...own, time, tid: 1_000 * height + n },
  ]
  return { height, time, fills: Array.from({ length: rows }, fill), funding: [] }
}
