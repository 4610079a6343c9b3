// Puts production where the gateway's log ends: looks at the node's files and at the checkpoints, and stands the books
// there, out of memory, of a checkpoint or of the node's snapshot.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BookKeeper } from './book-keeper.ts'
import type { CheckpointFiles, StoredCheckpoint } from './checkpoint-files.node.ts'
import type { NodeFiles } from './node-files.node.ts'
import { type FileRange, type ResumePoint, resumePoint, startedOver } from './resume-point.ts'
import type { Reposition } from './session.ts'
import type { SnapshotFetcher } from './snapshot-fetcher.node.ts'

const AGAIN_MS = 500

/** Where to read and to send from, both known by now. */
interface Placed {
  readonly point: ResumePoint
  readonly readFrom: number
  readonly sendFrom: number
}

interface PlacementHost {
  readonly files: NodeFiles
  readonly store: CheckpointFiles
  readonly keeper: BookKeeper
  readonly snapshots: SnapshotFetcher
  say(sentence: string): void
}

export class Placement {
  readonly #host: PlacementHost

  constructor(host: PlacementHost) {
    this.#host = host
  }

  /** Stands the books at `target`; null where that has to be tried again; a sentence where this node never can. */
  async take(target: Reposition): Promise<Placed | string | null> {
    const range = await this.#host.files.range()
    if (!range) return null
    const checkpoints: StoredCheckpoint[] = []
    for (const [age, stored] of (await this.#host.store.list()).entries()) {
      const foreign = await this.#foreign(stored, range)
      if (!foreign) checkpoints.push(stored)
      // The one before the newest may be from before the log was begun anew.
      else if (target.durable !== null && age === 0) return foreign
      else this.#host.say(`the checkpoint ${stored.path} is ignored: it is not of this node's present chain`)
    }
    const { books, isLevel, place } = this.#host.keeper
    const point = resumePoint(target, range, books && isLevel && place?.time ? place : null, checkpoints)
    return await this.#begin(point, checkpoints)
  }

  /** Why a checkpoint is not of the node's present files, null where it is. */
  async #foreign(stored: StoredCheckpoint, range: FileRange): Promise<string | null> {
    const time = stored.height < range.first ? null : await this.#host.files.timeOf(stored.height)
    return startedOver(stored, range, time)
  }

  /** Puts the books where the point wants them; null where that has to be tried again. */
  async #begin(point: ResumePoint, checkpoints: readonly StoredCheckpoint[]): Promise<Placed | null> {
    const { readFrom, sendFrom } = point
    this.#host.snapshots.forget()
    if (point.books === 'checkpoint') {
      const stored = checkpoints.find(({ height }) => height === point.checkpoint)
      const loaded = stored && (await this.#host.store.load(stored))
      if (!loaded) return null
      this.#host.keeper.begin(stored.from, loaded.books, loaded.heights)
    }
    if (point.books === 'snapshot') {
      const before = readFrom === null ? null : readFrom - 1
      const time = before === null ? null : await this.#host.files.timeOf(before)
      this.#host.keeper.begin(before === null ? null : { height: before, time: time ?? '' }, null)
    }
    if (readFrom !== null && sendFrom !== null) return { point, readFrom, sendFrom }
    const seed = await this.#host.snapshots.fetch()
    if (!seed) {
      await sleep(AGAIN_MS)
      return null
    }
    this.#host.keeper.offer(seed)
    return { point, readFrom: seed.height, sendFrom: seed.height + 1 }
  }
}
