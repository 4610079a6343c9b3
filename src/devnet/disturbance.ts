// What can go wrong with a node's files, on demand, for tests of whoever reads them: `POST /disturb` with
//   {"what": "restart", "for_ms": 3000, "rewrite": 10}
// Blocks go on being made, so that all of them are in the files when it is over.

import * as z from 'zod'
import { SPARSE_STREAMS, STREAMS } from './exchange/node-block.ts'

/** Blocks wait in memory while nothing is written. */
const MOST_HELD_MS = 10_000
/** Streams that a node may run without. */
const OPTIONAL = [...SPARSE_STREAMS, 'node_order_statuses_by_block'] as const

/** Body of `POST /disturb`; unknown fields are refused, so that a slip is seen. */
export const DisturbRequest = z.discriminatedUnion('what', [
  /** Nothing is written for a while; then some heights once more, and all that waited at once. */
  z.strictObject({
    what: z.literal('restart'),
    for_ms: z.int().min(1).max(MOST_HELD_MS).default(2_000),
    rewrite: z.int().min(0).max(20).default(5),
  }),
  /** The same without writing anything twice. */
  z.strictObject({ what: z.literal('pause'), for_ms: z.int().min(1).max(MOST_HELD_MS).default(2_000) }),
  /** A stream has no lines for a while, and never gets them. */
  z.strictObject({
    what: z.literal('cut'),
    stream: z.enum(OPTIONAL),
    for_ms: z.int().min(1).max(600_000).default(10_000),
  }),
  /** The older half of a stream's file goes: it is written anew and renamed into place. */
  z.strictObject({ what: z.literal('rotate'), stream: z.enum(STREAMS) }),
  /** So many blocks have no events, and nothing changes. */
  z.strictObject({ what: z.literal('quiet'), blocks: z.int().min(0).max(20_000) }),
])
export type DisturbRequest = z.infer<typeof DisturbRequest>
