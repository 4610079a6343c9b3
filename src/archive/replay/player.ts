// Schedules historical blocks for replay. It has no clock of its own. Invariants: each block of the range is replayed
// once and in order; a block of time t is due at start + (t - t0) / speed and may be late but never early; gaps are
// reported, take no time, and restart the schedule; a seek restarts the schedule at the new position; without an end,
// live data begins after the last archived block.

import { isolateReadAhead, type ReadAhead } from './read-ahead.ts'

/** A height, or the first block at or after a time. */
export type ReplayPosition = { readonly height: number } | { readonly timeMs: number }

export interface ReplayPlan {
  readonly from: ReplayPosition
  /** The last position, inclusive; null to continue live. */
  readonly to: ReplayPosition | null
  /** Speed factor; Infinity to replay as fast as possible. */
  readonly speed: number
}

export interface ReplayBlock<B> {
  readonly height: number
  readonly time: number
  /** Memory that the block uses in the queue. */
  readonly bytes: number
  readonly block: B
}

export type ReplayItem<B> =
  | ({ readonly kind: 'block' } & ReplayBlock<B>)
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  | { readonly kind: 'end' }
  /** Everything below this height was replayed. No further item follows. */
  | { readonly kind: 'live'; readonly from: number }

/** Maximum size of the queue of blocks read ahead. */
export const MAX_AHEAD_BYTES = 2 * 1024 * 1024
const MAX_AHEAD_BLOCKS = 4096
/** Maximum size of all queues in the isolate. A replay whose queue is empty may always read. */
export const MAX_ISOLATE_AHEAD_BYTES = 24 * 1024 * 1024

export class Player<B> {
  readonly #readAhead: ReadAhead
  readonly #to: ReplayPosition | null
  readonly #speed: number
  #queue: ReplayItem<B>[] = []
  #bytes = 0
  #readFrom: ReplayPosition
  #startAt: ReplayPosition | null
  #isFullyRead = false
  #anchor: { readonly atMs: number; readonly time: number } | null = null
  #pausedMs: number | null = null

  constructor({ from, to, speed }: ReplayPlan, readAhead = isolateReadAhead) {
    this.#readAhead = readAhead
    readAhead.add(this)
    this.#to = to
    this.#speed = speed
    this.#readFrom = from
    this.#startAt = from
  }

  /** Size of the queue. */
  get bytes(): number {
    return this.#bytes
  }

  get isPaused(): boolean {
    return this.#pausedMs !== null
  }

  /**
   * The position from which to read; null if the queue is full enough. Pass it back to `put`, `skip` or `endOfArchive`.
   */
  get nextRead(): ReplayPosition | null {
    const isFull = this.#bytes >= MAX_AHEAD_BYTES || this.#queue.length >= MAX_AHEAD_BLOCKS
    if (this.#isFullyRead || isFull) return null
    const hasRoom = this.#bytes === 0 || this.#readAhead.bytes < MAX_ISOLATE_AHEAD_BYTES
    return hasRoom ? this.#readFrom : null
  }

  /**
   * Adds blocks in order. The first blocks may precede the position. Blocks that were read for an outdated position are
   * ignored.
   */
  put(position: ReplayPosition, blocks: readonly ReplayBlock<B>[]): void {
    if (position !== this.#readFrom) return
    for (const one of blocks) {
      if (this.#isFullyRead) return
      if (this.#isBefore(one)) continue
      this.#skipTo(one.height)
      if (isBeyond(one, this.#to)) return this.#finish()
      this.#queue.push({ kind: 'block', ...one })
      this.#bytes += one.bytes
      this.#startAt = null
      this.#readFrom = { height: one.height + 1 }
      if (isLast(one.height, this.#to)) this.#finish()
    }
  }

  /** Reports the heights from the position to `last` as a gap, because the blocks `first` to `last` cannot be read. */
  skip(position: ReplayPosition, { first, last }: { readonly first: number; readonly last: number }): void {
    if (position !== this.#readFrom) return
    const max = this.#to && 'height' in this.#to ? this.#to.height : last
    const from = 'height' in position ? position.height : first
    this.#queue.push({ kind: 'gap', from, to: Math.min(last, max) })
    this.#readFrom = { height: last + 1 }
    // If the start is a time within the gap, replay starts at the first block after the gap.
    if (this.#startAt && 'height' in this.#startAt) this.#startAt = null
    if (isLast(last, this.#to)) this.#finish()
  }

  /** Reports that the archive has no blocks at the position yet. `last`: the last archived block. */
  endOfArchive(position: ReplayPosition, last: number): void {
    if (position !== this.#readFrom || this.#to !== null) return
    // The archive may have grown by the time the queue is replayed.
    if (this.#queue.length > 0 || this.isPaused) return
    this.#isFullyRead = true
    this.#queue.push({ kind: 'live', from: 'height' in position ? position.height : last + 1 })
  }

  /** Milliseconds until `take` returns an item; null if it waits for something other than time. */
  waitMs(nowMs: number): number | null {
    const [next] = this.#queue
    if (!next || this.isPaused) return null
    if (next.kind !== 'block' || this.#anchor === null) return 0
    // Rounded up, so that a timer never fires too early.
    const dueMs = this.#anchor.atMs + Math.ceil((next.time - this.#anchor.time) / this.#speed)
    return Math.max(0, dueMs - nowMs)
  }

  /** Returns the next item if it is due. */
  take(nowMs: number): ReplayItem<B> | null {
    const next = this.waitMs(nowMs) === 0 ? this.#queue.shift() : undefined
    if (!next) return null
    if (next.kind === 'block') {
      this.#bytes -= next.bytes
      this.#anchor ??= { atMs: nowMs, time: next.time }
    } else this.#anchor = null
    return next
  }

  pause(nowMs: number): void {
    this.#pausedMs ??= nowMs
  }

  /** Resumes and excludes the pause from the schedule. */
  resume(nowMs: number): void {
    if (this.#pausedMs === null) return
    if (this.#anchor) this.#anchor = { ...this.#anchor, atMs: this.#anchor.atMs + nowMs - this.#pausedMs }
    this.#pausedMs = null
  }

  /** Continues from a different position. A paused replay stays paused. */
  seek(position: ReplayPosition): void {
    this.end()
    this.#readFrom = position
    this.#startAt = position
    this.#isFullyRead = false
    this.#anchor = null
  }

  /** Frees the queue. */
  end(): void {
    this.#queue = []
    this.#bytes = 0
  }

  #isBefore({ height, time }: ReplayBlock<B>): boolean {
    const { height: next = -1 } = this.#readFrom as { readonly height?: number }
    const { timeMs = -1 } = (this.#startAt ?? {}) as { readonly timeMs?: number }
    return height < next || time < timeMs
  }

  /** Reports the heights below this one as missing. */
  #skipTo(height: number): void {
    if (!('height' in this.#readFrom) || this.#readFrom.height >= height) return
    // If the start is a time, it is unknown whether the start lies in the gap.
    if (this.#startAt && 'timeMs' in this.#startAt) return
    const max = this.#to && 'height' in this.#to ? this.#to.height + 1 : height
    const to = Math.min(height, max) - 1
    if (to >= this.#readFrom.height) this.#queue.push({ kind: 'gap', from: this.#readFrom.height, to })
  }

  #finish(): void {
    this.#isFullyRead = true
    this.#queue.push({ kind: 'end' })
  }
}

function isBeyond(
  { height, time }: { readonly height: number; readonly time: number },
  to: ReplayPosition | null,
): boolean {
  if (to === null) return false
  return 'height' in to ? height > to.height : time > to.timeMs
}

const isLast = (height: number, to: ReplayPosition | null): boolean =>
  to !== null && 'height' in to && height >= to.height
