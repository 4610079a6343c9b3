// Provides the time of the gateway, independent of the clock of the device. Draws once per animation frame. Invariants:
// the page clock is monotonic; of several readings, the reading with the shortest round trip counts; no block has a future time.

import * as strings from './strings.ts'

export class ServerClock {
  #offsetMs: number | null = null
  #tripMs = Number.POSITIVE_INFINITY

  /** Records the time in a response, with the page times of request and response. */
  sync(serverMs: number, sentMs: number, receivedMs: number): void {
    const trip = receivedMs - sentMs
    if (!Number.isFinite(serverMs) || trip > this.#tripMs) return
    this.#tripMs = trip
    this.#offsetMs = serverMs - (sentMs + receivedMs) / 2
  }

  /** A received block cannot be from the future. */
  observeBlock(blockMs: number, pageMs: number): void {
    const least = blockMs - pageMs
    if (this.#offsetMs === null || this.#offsetMs < least) this.#offsetMs = least
  }

  /** NaN until the first reading. */
  now(pageMs: number): number {
    return this.#offsetMs === null ? Number.NaN : pageMs + this.#offsetMs
  }
}

/** A warning if the clock of the device is off by 30 s or more, otherwise null. */
export function clockWarning(serverMs: number, visitorMs: number): string | null {
  const off = visitorMs - serverMs
  if (!Number.isFinite(off) || Math.abs(off) < 30_000) return null
  const minutes = Math.round(Math.abs(off) / 60_000)
  const size = minutes < 60 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
  return strings.statusClock(size, off > 0 ? 'fast' : 'slow')
}

export class FrameScheduler {
  readonly #nextFrame: (run: () => void) => void
  readonly #due = new Set<() => void>()
  #isScheduled = false

  constructor(nextFrame: (run: () => void) => void) {
    this.#nextFrame = nextFrame
  }

  /** Wraps `draw` so that any number of calls draw once, in the next animation frame, with the data of that moment. */
  deferred(draw: () => void): () => void {
    return () => {
      this.#due.add(draw)
      if (this.#isScheduled) return
      this.#isScheduled = true
      this.#nextFrame(() => {
        this.#isScheduled = false
        const due = [...this.#due]
        this.#due.clear()
        for (const run of due) run()
      })
    }
  }
}
