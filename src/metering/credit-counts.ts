// Counts credits in the isolate's counters, from the events of the ledger.

import type { Counters } from '../core/counters.ts'
import type { LedgerEvent } from './ledger.ts'

export function countCredits(counters: Pick<Counters, 'add'>, events: readonly LedgerEvent[]): void {
  for (const event of events) {
    switch (event.type) {
      case 'leased':
        counters.add('credits_leased', '', event.amount)
        break
      case 'charged':
      case 'settled':
        counters.add('credits_charged', '', event.amount)
        break
      case 'settled_late':
        counters.add('credits_charged', '', event.charged)
        counters.add('credits_written_off', '', event.writtenOff)
        break
      case 'returned':
        counters.add('credits_returned', '', event.amount)
        break
      case 'reclaimed':
        counters.add('credits_reclaimed', '', event.amount)
        break
    }
  }
}
