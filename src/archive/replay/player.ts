// When which block of the past is played: a schedule without a clock, into which blocks are put as they are read. Laws: each
// block of the range once, in order; one of time t is due at start + (t - t0) / speed, late perhaps and never early; heights
// that are missing are told, take no time, and begin a new start; to seek is to begin there; where no end was given, the
// block after the last that the archive holds is where live begins.

/** A block, or the first one of a time or later. */
export type ReplayPosition = { readonly height: number } | { readonly timeMs: number }

export interface ReplayPlan {
  readonly from: ReplayPosition
  /** Inclusive; null: join live. */
  readonly to: ReplayPosition | null
  /** Infinity: as fast as it is read. */
  readonly speed: number
}

export interface ReplayBlock<B> {
  readonly height: number
  readonly time: number
  /** What it takes while it waits. */
  readonly bytes: number
  readonly block: B
}

export type ReplayItem<B> =
  | ({ readonly kind: 'block' } & ReplayBlock<B>)
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  | { readonly kind: 'end' }
  /** All before this height was played. Nothing follows. */
  | { readonly kind: 'live'; readonly from: number }

/** Read ahead: with so much nothing more is read. */
export const MAX_AHEAD_BYTES = 2 * 1024 * 1024
const MAX_AHEAD_BLOCKS = 4096

export class Player<B> {
  readonly #to: ReplayPosition | null
  readonly #speed: number
  #queue: ReplayItem<B>[] = []
  #bytes = 0
  #readFrom: ReplayPosition
  #startAt: ReplayPosition | null
  #isFullyRead = false
  #anchor: { readonly atMs: number; readonly time: number } | null = null
  #pausedMs: number | null = null

  constructor({ from, to, speed }: ReplayPlan) {
    this.#to = to
    this.#speed = speed
    this.#readFrom = from
    this.#startAt = from
  }

  get isPaused(): boolean {
    return this.#pausedMs !== null
  }

  /** From where to read on; null while enough is read. `put` and `none` are told which of them they answer. */
  get nextRead(): ReplayPosition | null {
    const isFull = this.#bytes >= MAX_AHEAD_BYTES || this.#queue.length >= MAX_AHEAD_BLOCKS
    return this.#isFullyRead || isFull ? null : this.#readFrom
  }

  /** What was read: blocks in order, the first of which may lie before the place. Another place's come to nothing. */
  put(asked: ReplayPosition, blocks: readonly ReplayBlock<B>[]): void {
    if (asked !== this.#readFrom) return
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

  /** Blocks of the archive cannot be read: they count as missing, and so does what lies before them. */
  skip(asked: ReplayPosition, { first, last }: { readonly first: number; readonly last: number }): void {
    if (asked !== this.#readFrom) return
    const most = this.#to && 'height' in this.#to ? this.#to.height : last
    const from = 'height' in asked ? asked.height : first
    this.#queue.push({ kind: 'gap', from, to: Math.min(last, most) })
    this.#readFrom = { height: last + 1 }
    // A time that lies in what is missing is found behind it.
    if (this.#startAt && 'height' in this.#startAt) this.#startAt = null
    if (isLast(last, this.#to)) this.#finish()
  }

  /** The archive, whose last block this is, holds nothing of the place yet. */
  endOfArchive(asked: ReplayPosition, last: number): void {
    if (asked !== this.#readFrom || this.#to !== null) return
    // It may hold more when what waits has been played.
    if (this.#queue.length > 0 || this.isPaused) return
    this.#isFullyRead = true
    this.#queue.push({ kind: 'live', from: 'height' in asked ? asked.height : last + 1 })
  }

  /** Ms until `take` has something; null where that needs more than time. */
  waitMs(nowMs: number): number | null {
    const [next] = this.#queue
    if (!next || this.isPaused) return null
    if (next.kind !== 'block' || this.#anchor === null) return 0
    // Whole: who waits for a part of one would come a rounding too early.
    const dueMs = this.#anchor.atMs + Math.ceil((next.time - this.#anchor.time) / this.#speed)
    return Math.max(0, dueMs - nowMs)
  }

  /** The next piece, where it is due. */
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

  /** The time of the pause did not pass. */
  resume(nowMs: number): void {
    if (this.#pausedMs === null) return
    if (this.#anchor) this.#anchor = { ...this.#anchor, atMs: this.#anchor.atMs + nowMs - this.#pausedMs }
    this.#pausedMs = null
  }

  /** Goes on from another place; what was paused stays so. */
  seek(place: ReplayPosition): void {
    this.#queue = []
    this.#bytes = 0
    this.#readFrom = place
    this.#startAt = place
    this.#isFullyRead = false
    this.#anchor = null
  }

  #isBefore({ height, time }: ReplayBlock<B>): boolean {
    const { height: next = -1 } = this.#readFrom as { readonly height?: number }
    const { timeMs = -1 } = (this.#startAt ?? {}) as { readonly timeMs?: number }
    return height < next || time < timeMs
  }

  /** Heights from the one that is read next up to this one are missing. */
  #skipTo(height: number): void {
    if (!('height' in this.#readFrom) || this.#readFrom.height >= height) return
    // Of a time it is not known whether it lies in what is missing.
    if (this.#startAt && 'timeMs' in this.#startAt) return
    const most = this.#to && 'height' in this.#to ? this.#to.height + 1 : height
    const to = Math.min(height, most) - 1
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
