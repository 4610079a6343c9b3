// What a relay refuses on its sockets, on its way to the gateway, which has the table of refusals.

import { sleep } from '../core/timers.client.ts'
import { RefusalBook } from '../key/refusal-book.client.ts'
import type { RefusalBatch } from '../key/refused-calls.ts'
import type { Clock, Connection } from './sockets/connection.ts'

interface RefusingPorts {
  readonly clock: Clock
  /** The gateway, whose version may be the one before. */
  keepRefusals(batch: RefusalBatch): Promise<void>
  waitUntil(work: Promise<unknown>): void
}

/** Notes a refusal. A frame has no request id. */
export function refusing({ clock, keepRefusals, waitUntil }: RefusingPorts): NonNullable<Connection['refused']> {
  const report = (error: unknown) => console.error('refusals could not be kept', error)
  const book = new RefusalBook({ nowMs: () => clock.nowMs, sleep, report })
  return ({ identity: caller, product }, type, failure) =>
    book.note({ caller, requestId: '', product, type, failure }, keepRefusals, waitUntil)
}
