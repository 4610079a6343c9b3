// Notes refusals beside the calls that were refused, and brings them to their table two seconds later, in work that the
// platform keeps alive beyond them. Law: a call that is served never comes here.

import { SingleFlight } from '../core/single-flight.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import { type RefusalBatch, RefusalBuffer, type RefusedCall } from './refused-calls.ts'

export interface RefusalLogPorts {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly report: (error: unknown) => void
}

const FLUSH_MS = 2_000
/** Work that the platform ended meanwhile is not waited for. */
const LOST_MS = 10_000

/** One per isolate. */
export class RefusalLog {
  readonly #calls = new RefusalBuffer()
  readonly #flush = new SingleFlight<void>(LOST_MS)
  readonly #ports: RefusalLogPorts

  constructor(ports: RefusalLogPorts) {
    this.#ports = ports
  }

  /** `keep` is the present request's way to the table: of an earlier one's nothing may be used. */
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
