// Usage on its way from a meter to D1. Law: a row leaves the outbox only once its copy was answered for; a copy whose
// answer is lost is made again, which changes nothing: it holds sums, not differences.

import type { MeterStore } from './meter.store.ts'
import type { UsageKeeper } from './usage.ts'

const ROWS = 500
const ROUNDS = 20

/** Copies what is due; true where nothing is left. Never rejects. */
export async function copyUsage(ctx: DurableObjectState, store: MeterStore, keeper: UsageKeeper): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    const rows = store.usageDue(ROWS)
    if (rows.length === 0) return true
    try {
      await keeper.keepUsage(rows)
    } catch (error) {
      console.error('copying usage failed', error instanceof Error ? error.message : '')
      return false
    }
    ctx.storage.transactionSync(() => store.usageCopied(rows))
  }
  return false
}
