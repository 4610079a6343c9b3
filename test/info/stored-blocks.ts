// Archive files and a log built from a plain list of blocks, split at any point.

import fc from 'fast-check'
import { ArchiveDamage } from '../../src/archive/archive/archive-read.ts'
import type { FileCoverage, FilesBlock, FilesReader, FilesRequest } from '../../src/archive/files/files-read.ts'
import { addSums, paidBetween, paymentsIn } from '../../src/archive/files/funding-sums.ts'
import type { FillHistory, FundingSpan, SpanFunding } from '../../src/archive/funding-spans.ts'
import { ok } from '../../src/core/result.ts'
import type { EventHistory } from '../../src/info/ports.ts'
import { eventHistoryOf } from '../../src/info/sources/event-history.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../src/protocol/feed/durable-api.ts'
import { FILL, USER } from '../../src/protocol/info/examples.ts'

export type Gap = FileCoverage['gaps'][number]

/** Blocks of one scope, oldest first, heights from 1. */
export interface Kept {
  readonly blocks: readonly EventBlock[]
  readonly head: { readonly height: number; readonly time: number }
  /** Last height in files; null: no files. */
  readonly filesTo: number | null
  /** First height in files; default 1. */
  readonly filesFrom?: number
  /** First height in the log. */
  readonly logFrom: number
  readonly gaps?: readonly Gap[]
  /** Unreadable block of the files. */
  readonly damaged?: number
  /** Heights in files without known funding, including gaps. */
  readonly unfunded?: readonly Gap[]
}

const FIRST = { height: 1, time: 0 }
const firstOf = (kept: Kept) => ({ height: kept.filesFrom ?? FIRST.height, time: timeOf(kept, kept.filesFrom ?? 0) })
const rowsIn = ({ fills, ledger = [] }: EventBlock) => fills.length + ledger.length

/** Time of a height: that of its block, or of the next lower one. */
function timeOf({ blocks }: Kept, height: number): number {
  return blocks.findLast((block) => block.height <= height)?.time ?? FIRST.time
}

export function logOf(kept: Kept): FillHistory {
  const { blocks, head, logFrom } = kept
  const since = { height: logFrom, time: timeOf(kept, logFrom) }
  return { head, since, runs: [blocks.filter(({ height }) => height >= logFrom)] }
}

/** Files with the current blocks of `kept`; `asked` collects requests. */
export function filesOf(kept: () => Kept, asked: FilesRequest[] = []): FilesReader {
  const rows = ({ fromMs, toMs, from = 0, upTo, order, limit }: FilesRequest) => {
    const { blocks, filesTo, gaps = [], damaged } = kept()
    const first = firstOf(kept())
    const found = blocks.filter(
      (block) =>
        block.height >= Math.max(first.height, from) &&
        block.height <= Math.min(upTo, filesTo ?? -1) &&
        block.time >= fromMs &&
        block.time <= toMs &&
        rowsIn(block) > 0 &&
        !isIn(gaps, block.height),
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
    async coverage() {
      const { filesTo, gaps = [] } = kept()
      return filesTo === null
        ? null
        : {
            from: firstOf(kept()),
            to: { height: filesTo, time: timeOf(kept(), filesTo) },
            gaps,
            funded: fundedOf(kept()),
            paid: fundedOf(kept()),
          }
    },
    async rows(request) {
      asked.push(request)
      return rows(request)
    },
    async funding(spans) {
      return fundingOf(kept(), spans)
    },
  }
}

const isIn = (gaps: readonly Gap[], height: number) => gaps.some(({ from, to }) => from <= height && height <= to)

/** One height at a time. */
function fundedOf(kept: Kept): FileCoverage['funded'] {
  const first = firstOf(kept).height
  const last = kept.filesTo ?? -1
  const unknown = [...(kept.gaps ?? []), ...(kept.unfunded ?? [])]
  const known = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)
  const stretches: { from: number; fromMs: number; to: number }[] = []
  for (const height of known.filter((one) => !isIn(unknown, one))) {
    const before = stretches.at(-1)
    if (before?.to === height - 1) before.to = height
    else stretches.push({ from: height, fromMs: timeOf(kept, height), to: height })
  }
  return stretches
}

/** Running sums over all known heights, across gaps. */
function fundingOf(kept: Kept, spans: readonly FundingSpan[]): SpanFunding[] {
  const stretches = fundedOf(kept)
  const known = kept.blocks.filter(({ height }) => isIn(stretches, height))
  const rows = addSums(paymentsIn(known.map((block) => ({ ...block, ledger: [] })))!, new Map())
  return spans.flatMap(({ coin, from, to }) => {
    if (!stretches.some((one) => one.from <= from && to <= one.to)) throw new Error(`${from} to ${to} is not all known`)
    const paid = rows.filter((row) => row.coin === coin && from <= row.height && row.height <= to)
    const first = paid[0]
    const last = paid.at(-1)
    return first && last ? [{ coin, from, perUnit: paidBetween(first, last) }] : []
  })
}

/** An event history over these files, and an archive with block times. */
export function pastOfKept(kept: () => Kept, asked: FilesRequest[] = []): EventHistory {
  const history = { stored: async () => ok(logOf(kept())) }
  const segmentsFrom = async (at: object) => {
    const first = (at as { height: number }).height
    return [{ chain: 'c', first, last: first, firstMs: timeOf(kept(), first), lastMs: 0, epoch: null }]
  }
  return eventHistoryOf({ history, files: filesOf(kept, asked), archive: { segmentsFrom }, after: () => () => {} })
}

/** Fills of many blocks, often with equal times; heights are 1 to 3 apart. */
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
      let height = 0
      let time = 10
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
