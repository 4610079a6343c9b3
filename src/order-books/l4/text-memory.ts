// Memory for the strings of order-level books that relays are reading, shared by all books of this isolate.

import { MemoryBudget } from '../../core/memory-budget.ts'

/** Two strings of BTC's orders, which are the largest at 17 MB. */
export const TEXT_BYTES = 36 * 1024 * 1024

export const textMemory = new MemoryBudget(TEXT_BYTES)
