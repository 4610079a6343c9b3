// The limits of the platform for one event (a request, a call of an object, a message, an alarm), which workerd does not
// enforce on a machine of one's own. Exceeding one throws, as on the platform, and is reported.

import type { FrozenClock } from './frozen-clock.ts'
import { sizeOf } from './size.ts'

const MIB = 1024 * 1024

export const LIMITS = {
  /** Calls of other services: fetches, KV, R2, D1 and objects. */
  subrequests: 1_000,
  /** Connections that wait for response headers at the same time. */
  connections: 6,
  /** Statements that one event sends to D1. */
  statements: 1_000,
  /** Bound parameters of one statement. */
  parameters: 100,
  /** A row, a bound value, or a key with its value. */
  valueBytes: 2_000_000,
  /** Arguments or the result of a call. */
  rpcBytes: 32 * MIB,
  cpuMs: 30_000,
  attachmentBytes: 16 * 1024,
} as const

export type Limits = { readonly [Name in keyof typeof LIMITS]: number }

class LimitError extends Error {
  override name = 'LimitError'
}

/** Counts what one event uses. */
export class EventCounts {
  readonly #event: string
  readonly #limits: Limits
  readonly #clock: FrozenClock
  readonly #report: (text: string) => void
  #subrequests = 0
  #statements = 0
  #waiting = 0
  #cpuMs = 0

  /** `report` receives one line per exceeded limit. */
  constructor(event: string, limits: Limits, clock: FrozenClock, report: (text: string) => void) {
    this.#event = event
    this.#limits = limits
    this.#clock = clock
    this.#report = report
  }

  subrequest(): void {
    this.#most('subrequests', ++this.#subrequests)
  }

  /** Opens a connection that waits for headers. The result ends the wait. */
  connect(): () => void {
    this.#most('connections', ++this.#waiting)
    return () => void this.#waiting--
  }

  statements(count: number): void {
    this.#statements += count
    this.#most('statements', this.#statements)
  }

  bound(values: readonly unknown[]): void {
    this.#most('parameters', values.length)
    this.value(values)
  }

  /** A row, or a key with its value. */
  value(...parts: readonly unknown[]): void {
    this.#most('valueBytes', sizeOf(parts))
  }

  /** `direction`: arguments or result. */
  call(method: string, direction: string, value: unknown): void {
    this.#most('rpcBytes', sizeOf(value), ` (${direction} of ${method})`)
  }

  attachment(value: unknown): void {
    this.#most('attachmentBytes', sizeOf(value))
  }

  /** Adds the time since the last I/O completed. Other work of the isolate counts too, so it is an upper bound. */
  spend(): void {
    this.#cpuMs += this.#clock.takeSpentMs()
    this.#most('cpuMs', this.#cpuMs)
  }

  #most(limit: keyof Limits, value: number, more = ''): void {
    const most = this.#limits[limit]
    if (value <= most) return
    const text = `${this.#event}: ${limit} ${Math.ceil(value)}, limit ${most}${more}`
    this.#report(text)
    throw new LimitError(text)
  }
}
