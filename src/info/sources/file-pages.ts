// The files of the archive, read page by page. Law: pages join, also where one time goes on beyond a page.

import { ArchiveDamage } from '../../archive/archive/archive-damage.ts'
import type { FilesReader, FilesRequest } from '../../archive/files/files-read.ts'
import type { Seam } from '../../archive/files/seam.ts'
import type { EventBlock } from '../../protocol/feed/durable-api.ts'
import type { PastRead, PastRequest } from '../ports.ts'
import type { Telling } from './telling.ts'

/** Rows of one reading of the files: a page of most types, and what shows that its last time has ended. */
const PAGE_ROWS = 2_048
/** Rows that one call goes through in the files. */
const WORK_ROWS = 20_000

/** What R2 or D1 failed at: it may be right the next time. */
export class Unreadable extends Error {}

/** Tells damage and failures of the archive apart from each other. */
export async function archived<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw error instanceof ArchiveDamage ? error : new Unreadable()
  }
}

/** Page by page, until there is no more, or it is enough, or too much. */
export async function tellFiles(
  files: FilesReader,
  { kind, scope, fromMs, toMs, order }: PastRequest,
  { from, upTo }: Pick<Seam, 'from' | 'upTo'>,
  tell: Telling,
): Promise<PastRead['ended']> {
  let page: FilesRequest = { kind, scope, fromMs, toMs, from, upTo, order, limit: PAGE_ROWS }
  for (let rows = 0; rows < WORK_ROWS; ) {
    const read = await archived(files.rows(page)).catch((error: unknown) => {
      if (error instanceof ArchiveDamage) return null
      throw error
    })
    if (read === null) return 'damage'
    if (!tell.all(read.blocks)) return 'enough'
    const last = read.blocks.at(-1)
    if (read.isEnd || last === undefined) return 'all'
    rows += countOf(read.blocks)
    page = order === 'newest' ? { ...page, upTo: last.height - 1 } : fromLast(page, read.blocks, last.time)
  }
  return 'work'
}

/** From the last time on, which may go on: what was told of it comes once more. */
function fromLast(page: FilesRequest, blocks: readonly EventBlock[], lastMs: number): FilesRequest {
  const again = countOf(blocks.filter(({ time }) => time === lastMs))
  return { ...page, fromMs: lastMs, limit: PAGE_ROWS + again }
}

const countOf = (blocks: readonly EventBlock[]) =>
  blocks.reduce((sum, { fills, ledger = [] }) => sum + fills.length + ledger.length, 0)
