// What a relay refuses on its sockets, on its way to the gateway, which has the table of refusals.

import { sleep } from '../core/timers.client.ts'
import { RefusalBook } from '../key/refusal-book.client.ts'
import type { RefusalBatch } from '../key/refused-calls.ts'
import type { Clock, Connection } from './sockets/connection.ts'

/** Notes a refusal. A frame has no request id; a gateway of the version before keeps nothing. */
export function refusing(
  clock: Clock,
  gateway: { keepRefusals(batch: RefusalBatch): Promise<void> },
  relay: Pick<DurableObjectState, 'waitUntil'>,
): NonNullable<Connection['refused']> {
  const report = (error: unknown) => console.error('refusals could not be kept', error)
  const book = new RefusalBook({ nowMs: () => clock.nowMs, sleep, report })
  const keep = (batch: RefusalBatch) => gateway.keepRefusals(batch)
  return ({ identity: caller, product }, type, failure) =>
    book.note({ caller, requestId: '', product, type, failure }, keep, (work) => relay.waitUntil(work))
}
