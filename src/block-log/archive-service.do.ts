// The log's side of the archive: it wakes the Archiver, serves it pages of durable blocks, and keeps its last report. A
// Worker without the bucket or the database has no archive, so the log retains nothing for it.

import type { Objects } from '../core/objects.client.ts'
import type { ArchivePage, ArchiveReport, ArchiveRequest, FilesReport } from '../protocol/feed/archive-api.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import { LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { ArchiveView } from '../protocol/feed/status-shape.ts'
import type { BookSeeds } from './book-seeds.do.ts'
import type { ReportedGaps } from './gap-repair.ts'
import type { RetainedBlocks } from './retained-blocks.do.ts'

/** A running Archiver makes a request at least once a minute. */
const CONTACT_TIMEOUT_MS = 70_000

interface ArchiveServicePorts {
  readonly env: Partial<Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY'>>
  readonly objects: Pick<Objects, 'archiver' | 'hasJobs'>
  readonly blocks: RetainedBlocks
  waitUntil(work: Promise<unknown>): void
}

export class ArchiveService {
  readonly #ports: ArchiveServicePorts
  readonly #isConfigured: boolean
  #report: ArchiveReport | null = null
  #files: FilesReport | null = null
  /** When the Archiver last made a request or was notified. */
  #lastContactMs = 0
  /** The epoch that the Archiver knows. */
  #knownEpoch: string | null = null

  constructor(ports: ArchiveServicePorts) {
    this.#ports = ports
    const { env, blocks, objects } = ports
    this.#isConfigured = env.ARCHIVE !== undefined && env.HISTORY !== undefined && objects.hasJobs
    if (!this.#isConfigured) blocks.setArchived(null)
  }

  /**
   * Wakes the Archiver if it is silent, or if it has not yet written the books of the current epoch. Called when blocks
   * arrive.
   */
  wake(nowMs: number): void {
    const { blocks, objects, waitUntil } = this.#ports
    const { epoch, booksKnown } = blocks.chain
    const isDue = nowMs - this.#lastContactMs > CONTACT_TIMEOUT_MS || (booksKnown && epoch !== this.#knownEpoch)
    if (!this.#isConfigured || !isDue) return
    this.#lastContactMs = nowMs
    this.#knownEpoch = epoch
    waitUntil(
      objects
        .archiver()
        .wake()
        .catch(() => undefined),
    )
  }

  /** True while too much data waits for the archive. The log must not accept blocks then. */
  isFull(nowMs: number): boolean {
    if (!this.#ports.blocks.isFull) return false
    this.wake(nowMs)
    return true
  }

  page({ archived, from, report }: ArchiveRequest, books: Pick<BookSeeds, 'repairedAt'>, nowMs: number): ArchivePage {
    const { blocks } = this.#ports
    this.#lastContactMs = nowMs
    this.#report = report
    // Nothing is retained for an Archiver that has never archived anything, because its setup may be wrong, nor for one
    // that still runs although the archive was turned off: when that one stops, this log could not wake it.
    if (this.#isConfigured && archived !== null) blocks.setArchived(archived)
    const { epoch, booksKnown } = blocks.chain
    this.#knownEpoch = booksKnown ? epoch : null
    const log = { epoch: this.#knownEpoch, repairedAt: books.repairedAt, gaps: blocks.newestGaps }
    return { v: LOG_API_VERSION, ...blocks.archivePage(from), ...log }
  }

  files(report: FilesReport): void {
    this.#files = report
  }

  /** The log's gaps in the archive; null if there is no archive, or it has not reported them. */
  get outcomes(): ReportedGaps | null {
    const { last, gaps } = this.#report ?? {}
    return this.#isConfigured && gaps ? { last: last?.height ?? null, gaps } : null
  }

  /** The archive as `/status` shows it; null if there is none. */
  view(): ArchiveView | null {
    if (!this.#isConfigured) return null
    const { chain, time } = this.#ports.blocks
    const { last = null, segments = null, checkpoint = null, failure = null } = this.#report ?? {}
    const lagMs = (at: HeightAndTime | null) => {
      // After a reset to lower heights, the log is archived again once it is above the old heights.
      const isBehind = at !== null && chain.height !== null && time !== null && chain.height >= at.height
      return isBehind ? Math.max(0, time - at.time) : null
    }
    const files = this.#files
    return {
      height: last?.height ?? null,
      behind: last && chain.height !== null && lagMs(last) !== null ? chain.height - last.height : null,
      lagMs: lagMs(last),
      segments,
      checkpoint: checkpoint && { height: checkpoint.height, timeMs: checkpoint.time },
      failure,
      files: files && {
        from: files.from && { height: files.from.height, timeMs: files.from.time },
        height: files.last?.height ?? null,
        lagMs: lagMs(files.last),
        gaps: files.gaps,
        failure: files.failure,
      },
    }
  }
}
