// Joins the frames of several hubs into blocks: a height goes out when all hubs reported it.
// Law: every fragment goes out exactly once, and those of one hub (so of one coin) in the order of heights.
//
// A hub that is silent for LATE_MS after the first report of a height is late: the others go on without it, and when
// it returns its older frames go out at once, each by itself. Time is an argument.

import type { HubFrameToRelay } from '../../protocol/hub/hub-link.ts'
import type { Emission, Entry } from '../channel.ts'

export const LATE_MS = 1000
export const MAX_WAITING_HEIGHTS = 64

interface Waiting {
  readonly sinceMs: number
  readonly frames: HubFrameToRelay[]
}

export class BlockJoin {
  /** Highest height that each hub reported. */
  readonly #reported: Map<number, number>
  readonly #late = new Set<number>()
  readonly #waiting = new Map<number, Waiting>()
  #emitted: number

  /** `reported`: the hubs of this join with the height that each has reported so far, -1 where none is known. */
  constructor(reported: ReadonlyMap<number, number>) {
    this.#reported = new Map(reported)
    this.#emitted = Math.min(...reported.values())
  }

  /** Takes a hub's frame; left out is that of a hub of other bodies, and a height that the hub reported before. */
  push(hub: number, frame: HubFrameToRelay, nowMs: number): Emission[] {
    const reported = this.#reported.get(hub)
    if (reported === undefined || frame.height <= reported) return []
    this.#reported.set(hub, frame.height)
    if (frame.height >= this.#emitted) this.#late.delete(hub)
    if (frame.height <= this.#emitted) return emissionsOf([frame])
    const waiting = this.#waiting.get(frame.height)
    if (waiting) waiting.frames.push(frame)
    else this.#waiting.set(frame.height, { sinceMs: nowMs, frames: [frame] })
    return this.tick(nowMs)
  }

  /** What has become due by the passing of time. */
  tick(nowMs: number): Emission[] {
    if (this.#waiting.size === 0) return []
    const out: Emission[] = []
    for (const [height, waiting] of [...this.#waiting].sort(([a], [b]) => a - b)) {
      const missing = this.#missing(height)
      const overdue = nowMs - waiting.sinceMs >= LATE_MS || this.#waiting.size > MAX_WAITING_HEIGHTS
      if (missing.length > 0 && !overdue) break
      for (const hub of missing) this.#late.add(hub)
      this.#waiting.delete(height)
      this.#emitted = height
      out.push(...emissionsOf(waiting.frames))
    }
    return out
  }

  /** When tick may have something to give, null while nothing waits. */
  dueMs(): number | null {
    let due: number | null = null
    for (const { sinceMs } of this.#waiting.values()) due = due === null ? sinceMs : Math.min(due, sinceMs)
    return due === null ? null : due + LATE_MS
  }

  /** Every frame of `hub` up to this height has gone out. */
  clearedOf(hub: number): number {
    return Math.min(this.#reported.get(hub) ?? -1, this.#emitted)
  }

  #missing(height: number): number[] {
    const missing: number[] = []
    for (const [hub, reported] of this.#reported) if (reported < height && !this.#late.has(hub)) missing.push(hub)
    return missing
  }
}

/** Usually one; hubs that stand in different epochs at one height go out apart, because a batch names one epoch. */
function emissionsOf(frames: readonly HubFrameToRelay[]): Emission[] {
  const out: { height: number; time: number; epoch: string | null; entries: Entry[] }[] = []
  for (const { height, time, epoch, coins } of frames) {
    if (coins.length === 0) continue
    const same = out.find((emission) => emission.epoch === epoch)
    if (same) same.entries.push(...coins)
    else out.push({ height, time, epoch, entries: [...coins] })
  }
  return out
}
