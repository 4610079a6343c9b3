// One round of the Archiver: from the log into segments, and now and then all books. Laws: what is called archived has its
// objects and its row; a round that ends anywhere is begun again from what was saved, and writes the same under the same
// names; heights are neither missing nor doubled.

import type { ArchivePage, ArchivePart, ArchiveReport } from '../../protocol/feed/archive-api.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { HubBooks } from '../../protocol/hub/hub-api.ts'
import { isCheckpointDue, type LastCheckpoint, waitMs } from './archive-plan.ts'
import { type Cut, type CutGap, type CutSegment, SegmentCutter } from './segment-cutter.ts'
import { linesOf } from './stored-lines.ts'
import { type TakenBooks, takeBooks } from './taken-books.ts'

/** Segments of one round: some seconds of work. */
const CUTS_MOST = 16
/** Books that are not sure are waited for through so many rounds … */
const TRIES_MOST = 12
/** … each so long after the last. */
const AGAIN_MS = 5_000
/** Books are written when the blocks that they stand at are durable. */
const DURABLE_MS = 2_000

export interface ArchiveState {
  /** All up to here is archived: the last block, or the end of a gap with the time of the block before. */
  readonly last: HeightAndTime | null
  readonly segments: number
  readonly bytes: number
  readonly checkpoint: LastCheckpoint | null
  readonly failure: ArchiveReport['failure']
}

export const NOTHING_ARCHIVED: ArchiveState = { last: null, segments: 0, bytes: 0, checkpoint: null, failure: null }

export interface ArchivingPorts {
  /** What the log has from a height on, null for nothing; it is told of the state. */
  page(from: number | null, state: ArchiveState): Promise<ArchivePage>
  /** Each answers how many bytes it took. */
  putSegment(cut: CutSegment): Promise<number>
  putCheckpoint(books: TakenBooks): Promise<number>
  putGap(gap: CutGap): Promise<void>
  readonly hubs: number
  hubBooks(hub: number, after: string | null): Promise<HubBooks>
  /** Removes the oldest where there is a bound. */
  trim(state: ArchiveState): Promise<Pick<ArchiveState, 'segments' | 'bytes'> | null>
  /** The last block of the last segment that has a row; null without one. */
  found(): Promise<HeightAndTime | null>
  /** Keeps the state; what is saved is never taken back. */
  save(state: ArchiveState): void
}

export class Archiving {
  readonly #ports: ArchivingPorts
  #state: ArchiveState
  /** Books that wait to be durable. */
  #taken: TakenBooks | null = null
  #tries = 0
  /** The last height that the round before saw. */
  #seen: number | null = null

  constructor(ports: ArchivingPorts, state: ArchiveState) {
    this.#ports = ports
    this.#state = state
  }

  get state(): ArchiveState {
    return this.#state
  }

  /** Others wrote so much beside the rounds. */
  added(segments: number, bytes: number): void {
    const { segments: before, bytes: held } = this.#state
    this.#save({ segments: before + segments, bytes: held + bytes })
  }

  /** So much went beside a round. */
  freed({ segments, bytes }: Pick<ArchiveState, 'segments' | 'bytes'>): void {
    this.#save({ segments: this.#state.segments - segments, bytes: this.#state.bytes - bytes })
  }

  /** The round ended amid. */
  failed(atMs: number, words: string): void {
    this.#save({ failure: { atMs, words } })
  }

  /** Answers after how long the next round is due; null: when blocks come. */
  async round(): Promise<number | null> {
    // A segment may have been written before its first state was.
    if (this.#state.last === null) this.#save({ last: await this.#ports.found() })
    const { last } = this.#state
    const cutter = new SegmentCutter(last)
    let cuts = 0
    let page: ArchivePage
    for (;;) {
      const from = (cutter.height ?? -1) + 1
      page = await this.#ports.page(from, this.#state)
      if (last && page.head && page.head.height < last.height)
        throw new Error(`the log stands at ${page.head.height}, below ${last.height}, up to which all is archived`)
      for (const part of page.parts)
        for (const cut of cutsOf(cutter, part)) {
          await this.#write(cut)
          cuts++
        }
      if (cuts >= CUTS_MOST) return 0
      if ((cutter.height ?? -1) + 1 === from) break
    }
    const told = this.#state
    const trimmed = cuts > 0 ? await this.#ports.trim(this.#state) : null
    if (trimmed) this.#save(trimmed)
    const booksMs = await this.#books(page)
    if (this.#state !== told) await this.#ports.page(null, this.#state)
    const isStill = cutter.height === this.#seen && cuts === 0
    this.#seen = cutter.height
    const endMs = isStill || !page.head ? null : cutter.endMs
    const blocksMs = endMs === null ? null : waitMs(endMs, page.head!.time)
    return booksMs === null || blocksMs === null ? (booksMs ?? blocksMs) : Math.min(booksMs, blocksMs)
  }

  async #write(cut: Cut): Promise<void> {
    if ('gap' in cut) {
      await this.#ports.putGap(cut.gap)
      return this.#save({ last: { height: cut.gap.to, time: cut.gap.afterMs } })
    }
    const { segment } = cut
    const bytes = await this.#ports.putSegment(segment)
    const { segments, bytes: before } = this.#state
    const last = { height: segment.last, time: segment.lastMs }
    this.#save({ last, segments: segments + 1, bytes: before + bytes })
  }

  /** Sees to a checkpoint that is due; answers when to come again for it, null where that is not needed. */
  async #books(page: ArchivePage): Promise<number | null> {
    if (this.#taken) return this.#putBooks(this.#taken, page)
    if (!isCheckpointDue(this.#state.checkpoint, page)) return null
    const { hubs, hubBooks } = this.#ports
    const taken = await takeBooks(hubs, page.epoch!, hubBooks)
    if (!taken) return AGAIN_MS
    if (taken.left > 0 && ++this.#tries < TRIES_MOST) return AGAIN_MS
    this.#tries = 0
    this.#taken = taken
    return DURABLE_MS
  }

  async #putBooks(taken: TakenBooks, { head, epoch }: ArchivePage): Promise<number | null> {
    const isDurable = head !== null && head.height >= taken.through
    if (epoch === taken.epoch && !isDurable) return DURABLE_MS
    this.#taken = null
    // Of another epoch, and where one of that height is there, books are taken anew: a name has one content.
    if (epoch !== taken.epoch || taken.height <= (this.#state.checkpoint?.height ?? -1)) return AGAIN_MS
    const bytes = (await this.#ports.putCheckpoint(taken)) + this.#state.bytes
    const { height, time } = taken
    this.#save({ bytes, checkpoint: { epoch: taken.epoch, height, time } })
    return null
  }

  #save(change: Partial<ArchiveState>): void {
    this.#state = { ...this.#state, ...change }
    this.#ports.save(this.#state)
  }
}

function* cutsOf(cutter: SegmentCutter, part: ArchivePart): Generator<Cut> {
  if ('gap' in part) yield* cutter.gap(part.gap.from, part.gap.to)
  else for (const line of linesOf(part)) yield* cutter.block(line)
}
