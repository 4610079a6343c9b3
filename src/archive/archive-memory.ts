// Memory of archive work in this isolate. An Archiver and a Compactor of one chain always fit at the same time; further
// tasks in the isolate wait. 128 MB is the limit of the isolate.

import { MemoryBudget } from '../core/memory-budget.ts'

const MIB = 1024 * 1024

export const archiveMemory = new MemoryBudget(80 * MIB)

/** Maximum bytes of each task. */
export const TASK_BYTES = {
  /** A round of the Archiver: a segment of lines, or all books. */
  round: 48 * MIB,
  /** A turn of the Compactor: pages read ahead, and the object that is built. */
  merge: 32 * MIB,
  /** A request of imported blocks, and the archived segments that it is compared with. */
  backfill: 32 * MIB,
  /** A segment that is read for a replay. */
  segment: 24 * MIB,
} as const

/** Delay until a task that found too little memory tries again. */
export const MEMORY_RETRY_MS = 1_000
