// What time it is at the gateway, whatever the visitor's clock says, and drawing once a frame of the screen. Invariants: the page's
// own clock is one that nobody sets; of several readings the one that took the shortest way counts; no block is from the
// future.

export class ServerClock {
  #offsetMs: number | null = null
  #tripMs = Number.POSITIVE_INFINITY

  /** The gateway said its time in an answer to a question: page times when it was asked and answered. */
  sync(serverMs: number, askedMs: number, answeredMs: number): void {
    const trip = answeredMs - askedMs
    if (!Number.isFinite(serverMs) || trip > this.#tripMs) return
    this.#tripMs = trip
    this.#offsetMs = serverMs - (askedMs + answeredMs) / 2
  }

  /** A block of this time came: it cannot be later than now. */
  observeBlock(blockMs: number, pageMs: number): void {
    const least = blockMs - pageMs
    if (this.#offsetMs === null || this.#offsetMs < least) this.#offsetMs = least
  }

  /** NaN: not known yet. */
  now(pageMs: number): number {
    return this.#offsetMs === null ? Number.NaN : pageMs + this.#offsetMs
  }
}

/** A sentence where the visitor's clock is far off; null where it is not, or that is not known. */
export function clockWarning(serverMs: number, visitorMs: number): string | null {
  const off = visitorMs - serverMs
  if (!Number.isFinite(off) || Math.abs(off) < 30_000) return null
  const size =
    Math.abs(off) < 3_600_000
      ? `${Math.round(Math.abs(off) / 60_000)} min`
      : `${(Math.abs(off) / 3_600_000).toFixed(1)} h`
  return `The clock of this device is ${size} ${off > 0 ? 'fast' : 'slow'}. Times and ages here are the gateway’s.`
}

export class FrameScheduler {
  readonly #nextFrame: (run: () => void) => void
  readonly #due = new Set<() => void>()
  #isScheduled = false

  constructor(nextFrame: (run: () => void) => void) {
    this.#nextFrame = nextFrame
  }

  /** What asks for this drawing: what it draws is what is known when the frame comes, so that there is one of it. */
  deferred(draw: () => void): () => void {
    return () => {
      this.#due.add(draw)
      if (this.#isScheduled) return
      this.#isScheduled = true
      this.#nextFrame(() => {
        this.#isScheduled = false
        const due = [...this.#due]
        this.#due.clear()
        for (const one of due) one()
      })
    }
  }
}
