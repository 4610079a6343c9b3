// Logs rejected calls and writes them to D1 two seconds later inside `waitUntil`. Invariant: successful calls never
// reach this class.

import { SingleFlight } from '../core/single-flight.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { type RefusalBatch, RefusalBuffer, type RefusedCall } from './refused-calls.ts'

export interface RefusalLogPorts {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly report: (error: unknown) => void
}

const FLUSH_MS = 2_000
/** Maximum wait for a flush, because the platform may end a flush without a result. */
const LOST_MS = 10_000

/** One per isolate. */
export class RefusalLog {
  readonly #calls = new RefusalBuffer()
  readonly #flush = new SingleFlight<void>(LOST_MS)
  readonly #ports: RefusalLogPorts

  constructor(ports: RefusalLogPorts) {
    this.#ports = ports
  }

  /** `keep` must come from the current request: handles of an earlier request are invalid. */
  record(call: RefusedCall, keep: (batch: RefusalBatch) => Promise<void>, waitUntil: WaitUntil): void {
    const { nowMs, sleep, report } = this.#ports
    const now = nowMs()
    this.#calls.record(call, now)
    if (this.#flush.current(now) !== null) return
    const run = async () => {
      await sleep(FLUSH_MS)
      const batch = this.#calls.take()
      if (batch === null) return
      await keep(batch).catch((error) => {
        this.#calls.giveBack(batch)
        report(error)
      })
    }
    waitUntil(this.#flush.start(run, now))
  }
}
