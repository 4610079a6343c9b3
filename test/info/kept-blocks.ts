// Files and a log made of a plain list of blocks, cut wherever a test likes.

import type { EventBlock } from '../../src/feed/held-fills.ts'
import { ArchiveDamage } from '../../src/history/archive/archive-damage.ts'
import type { FilesCover, FilesReader, FilesRequest } from '../../src/history/files/files-read.ts'
import type { HeldFills } from '../../src/history/held-runs.ts'

type Gap = FilesCover['gaps'][number]

/** Blocks of one scope, oldest first; heights from 1 on. */
export interface Kept {
  readonly blocks: readonly EventBlock[]
  readonly head: { readonly height: number; readonly time: number }
  /** Files hold up to here; null: there are none yet. */
  readonly filesTo: number | null
  /** The log holds from here on. */
  readonly logFrom: number
  readonly gaps?: readonly Gap[]
  /** Of the files' blocks this one cannot be read. */
  readonly damaged?: number
}

const FIRST = { height: 1, time: 0 }
const rowsIn = ({ fills, ledger = [] }: EventBlock) => fills.length + ledger.length

/** Time of a height: of its block, or of the next below that has one. */
export function timeOf({ blocks }: Kept, height: number): number {
  return blocks.findLast((block) => block.height <= height)?.time ?? FIRST.time
}

export function logOf(kept: Kept): HeldFills {
  const { blocks, head, logFrom } = kept
  const since = { height: logFrom, time: timeOf(kept, logFrom) }
  return { head, since, runs: [blocks.filter(({ height }) => height >= logFrom)] }
}

/** Files of what `kept` gives at the time; `asked` collects requests. */
export function filesOf(kept: () => Kept, asked: FilesRequest[] = []): FilesReader {
  const rows = ({ fromMs, toMs, upTo, order, limit }: FilesRequest) => {
    const { blocks, filesTo, gaps = [], damaged } = kept()
    const found = blocks.filter(
      (block) =>
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
    return { blocks: page, isEnd: page.length === ordered.length }
  }
  return {
    async cover() {
      const { filesTo, gaps = [] } = kept()
      return filesTo === null ? null : { from: FIRST, to: { height: filesTo, time: timeOf(kept(), filesTo) }, gaps }
    },
    async rows(request) {
      asked.push(request)
      return rows(request)
    },
  }
}
