// How long the feeder stood still: whatever runs on its one thread keeps blocks, sockets and acknowledgements waiting.

import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 10
const NANOSECONDS = 1e6
/** Nothing of the feeder takes longer on a host that is not busy with others. */
const STALL_MS = 20

export class StallMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  /** Longest stretch of the last second, ms; 0 where it was no stall. */
  worstMs = 0
  /** Seconds with a stall, since the start. */
  seconds = 0

  start(): void {
    this.#delays.enable()
  }

  stop(): void {
    this.#delays.disable()
  }

  /** Ends a second. */
  tick(): void {
    const ms = Math.round(this.#delays.max / NANOSECONDS - RESOLUTION_MS)
    this.#delays.reset()
    this.worstMs = ms > STALL_MS ? ms : 0
    if (this.worstMs > 0) this.seconds++
  }
}
