// Joins the frames of several hubs into blocks: a height goes out when all hubs reported it.
// Law: every fragment goes out exactly once, and those of one hub (so of one coin) in the order of heights.
//
// A hub that is silent for LATE_MS after the first report of a height is late: the others go on without it, and when
// it returns its older frames go out at once, each by itself. Time is an argument.

import type { HubFrameToRelay } from '../../protocol/hub/hub-link.ts'
import type { BookBatch, CoinUpdate } from '../channel.ts'

export const LATE_MS = 1000
export const MAX_WAITING_HEIGHTS = 64

interface PendingHeight {
  readonly sinceMs: number
  readonly frames: HubFrameToRelay[]
}

export class BlockJoin {
  /** Highest height that each hub reported. */
  readonly #reported: Map<number, number>
  readonly #late = new Set<number>()
  readonly #pending = new Map<number, PendingHeight>()
  #emitted: number

  /** `reported`: the hubs of this join with the height that each has reported so far, -1 where none is known. */
  constructor(reported: ReadonlyMap<number, number>) {
    this.#reported = new Map(reported)
    this.#emitted = Math.min(...reported.values())
  }

  /** Takes a hub's frame; left out is that of a hub of other bodies, and a height that the hub reported before. */
  push(hub: number, frame: HubFrameToRelay, nowMs: number): BookBatch[] {
    const reported = this.#reported.get(hub)
    if (reported === undefined || frame.height <= reported) return []
    this.#reported.set(hub, frame.height)
    if (frame.height >= this.#emitted) this.#late.delete(hub)
    if (frame.height <= this.#emitted) return batchesOf([frame])
    const waiting = this.#pending.get(frame.height)
    if (waiting) waiting.frames.push(frame)
    else this.#pending.set(frame.height, { sinceMs: nowMs, frames: [frame] })
    return this.tick(nowMs)
  }

  /** What has become due by the passing of time. */
  tick(nowMs: number): BookBatch[] {
    if (this.#pending.size === 0) return []
    const out: BookBatch[] = []
    for (const [height, waiting] of [...this.#pending].sort(([a], [b]) => a - b)) {
      const missing = this.#missing(height)
      const overdue = nowMs - waiting.sinceMs >= LATE_MS || this.#pending.size > MAX_WAITING_HEIGHTS
      if (missing.length > 0 && !overdue) break
      for (const hub of missing) this.#late.add(hub)
      this.#pending.delete(height)
      this.#emitted = height
      out.push(...batchesOf(waiting.frames))
    }
    return out
  }

  /** When tick may have something to give, null while nothing waits. */
  dueMs(): number | null {
    let due: number | null = null
    for (const { sinceMs } of this.#pending.values()) due = due === null ? sinceMs : Math.min(due, sinceMs)
    return due === null ? null : due + LATE_MS
  }

  /** Every frame of `hub` up to this height has gone out. */
  clearedHeight(hub: number): number {
    return Math.min(this.#reported.get(hub) ?? -1, this.#emitted)
  }

  #missing(height: number): number[] {
    const missing: number[] = []
    for (const [hub, reported] of this.#reported) if (reported < height && !this.#late.has(hub)) missing.push(hub)
    return missing
  }
}

/** Usually one; hubs that stand in different epochs at one height go out apart, because a batch names one epoch. */
function batchesOf(frames: readonly HubFrameToRelay[]): BookBatch[] {
  const out: { height: number; time: number; epoch: string | null; updates: CoinUpdate[] }[] = []
  for (const { height, time, epoch, coins } of frames) {
    if (coins.length === 0) continue
    const same = out.find((batch) => batch.epoch === epoch)
    if (same) same.updates.push(...coins)
    else out.push({ height, time, epoch, updates: [...coins] })
  }
  return out
}
