// Joins the frames of several hubs into blocks: a height is sent when all hubs have reported it. Invariant: every
// fragment is sent exactly once, and the fragments of one hub (and therefore of one coin) are sent in height order.
//
// A hub that is silent for LATE_MS after the first report of a height is late. The others continue without it. When it
// returns, its older frames are sent at once, each separately. Callers pass the current time.

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

  /** `reported`: the hubs of this join with their reported heights, -1 if unknown. */
  constructor(reported: ReadonlyMap<number, number>) {
    this.#reported = new Map(reported)
    this.#emitted = Math.min(...reported.values())
  }

  /** Adds a hub's frame. Ignores hubs outside this join and heights that were already reported. */
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

  /** Returns the batches that became due. */
  tick(nowMs: number): BookBatch[] {
    if (this.#pending.size === 0) return []
    const batches: BookBatch[] = []
    for (const [height, waiting] of [...this.#pending].sort(([a], [b]) => a - b)) {
      const missing = this.#missing(height)
      const overdue = nowMs - waiting.sinceMs >= LATE_MS || this.#pending.size > MAX_WAITING_HEIGHTS
      if (missing.length > 0 && !overdue) break
      for (const hub of missing) this.#late.add(hub)
      this.#pending.delete(height)
      this.#emitted = height
      batches.push(...batchesOf(waiting.frames))
    }
    return batches
  }

  /** Time from which `tick` may return batches; null while no frame waits. */
  dueMs(): number | null {
    let due: number | null = null
    for (const { sinceMs } of this.#pending.values()) due = due === null ? sinceMs : Math.min(due, sinceMs)
    return due === null ? null : due + LATE_MS
  }

  /** Height up to which every frame of `hub` was sent. */
  clearedHeight(hub: number): number {
    return Math.min(this.#reported.get(hub) ?? -1, this.#emitted)
  }

  #missing(height: number): number[] {
    const missing: number[] = []
    for (const [hub, reported] of this.#reported) if (reported < height && !this.#late.has(hub)) missing.push(hub)
    return missing
  }
}

/**
 * Groups frames into batches, usually into one. If hubs have different epochs at a height, each epoch gets its own
 * batch.
 */
function batchesOf(frames: readonly HubFrameToRelay[]): BookBatch[] {
  const batches: { height: number; time: number; epoch: string | null; updates: CoinUpdate[] }[] = []
  for (const { height, time, epoch, coins } of frames) {
    if (coins.length === 0) continue
    const same = batches.find((batch) => batch.epoch === epoch)
    if (same) same.updates.push(...coins)
    else batches.push({ height, time, epoch, updates: [...coins] })
  }
  return batches
}
