// Positions the producer at the end of the gateway's log. The books come from memory, a checkpoint or a snapshot from the
// node.

import { setTimeout as sleep } from 'node:timers/promises'
import type { CheckpointFiles, StoredCheckpoint } from './checkpoint-files.node.ts'
import type { NodeFiles } from './node-files.node.ts'
import type { OrderBookProjector } from './order-book-projector.ts'
import { type FileRange, type ResumePoint, resumePoint, startedOverMessage } from './resume-point.ts'
import type { Reposition } from './session.ts'
import type { SnapshotFetcher } from './snapshot-fetcher.node.ts'

const RETRY_MS = 500

/** The first heights to read and to send, both known by now. */
interface StartPosition {
  readonly point: ResumePoint
  readonly readFrom: number
  readonly sendFrom: number
}

interface PlacementHost {
  readonly files: NodeFiles
  readonly checkpoints: CheckpointFiles
  readonly projector: OrderBookProjector
  readonly snapshots: SnapshotFetcher
  log(message: string): void
}

export class Placement {
  readonly #host: PlacementHost

  constructor(host: PlacementHost) {
    this.#host = host
  }

  /**
   * Prepares the books for `target`. Returns null if the caller should try again later, or a sentence that says why
   * this node can never continue from there.
   */
  async moveTo(target: Reposition): Promise<StartPosition | string | null> {
    const range = await this.#host.files.range()
    if (!range) return null
    const checkpoints: StoredCheckpoint[] = []
    for (const [age, stored] of (await this.#host.checkpoints.list()).entries()) {
      const foreign = await this.#conflictOf(stored, range)
      if (!foreign) checkpoints.push(stored)
      // The previous checkpoint may be older than the current log.
      else if (target.durable !== null && age === 0) return foreign
      else this.#host.log(`ignoring the checkpoint ${stored.path}: it does not belong to this node's present chain`)
    }
    const { books, isAligned, position } = this.#host.projector
    const point = resumePoint(target, range, books && isAligned && position?.time ? position : null, checkpoints)
    return await this.#prepareBooks(point, checkpoints)
  }

  /** Why a checkpoint does not belong to the node's current files; null if it does. */
  async #conflictOf(stored: StoredCheckpoint, range: FileRange): Promise<string | null> {
    const time = stored.height < range.first ? null : await this.#host.files.timeOf(stored.height)
    return startedOverMessage(stored, range, time)
  }

  /** Prepares the books for the resume point. Null: the caller should try again later. */
  async #prepareBooks(point: ResumePoint, checkpoints: readonly StoredCheckpoint[]): Promise<StartPosition | null> {
    const { readFrom, sendFrom } = point
    this.#host.snapshots.invalidate()
    if (point.books === 'checkpoint') {
      const stored = checkpoints.find(({ height }) => height === point.checkpoint)
      const loaded = stored && (await this.#host.checkpoints.load(stored))
      if (!loaded) return null
      this.#host.projector.startAt(stored.from, loaded.books, loaded.heights)
    }
    if (point.books === 'snapshot') {
      const before = readFrom === null ? null : readFrom - 1
      const time = before === null ? null : await this.#host.files.timeOf(before)
      this.#host.projector.startAt(before === null ? null : { height: before, time: time ?? '' }, null)
    }
    if (readFrom !== null && sendFrom !== null) return { point, readFrom, sendFrom }
    const seed = await this.#host.snapshots.fetch()
    if (!seed) {
      await sleep(RETRY_MS)
      return null
    }
    this.#host.projector.offerSnapshot(seed)
    return { point, readFrom: seed.height, sendFrom: seed.height + 1 }
  }
}
