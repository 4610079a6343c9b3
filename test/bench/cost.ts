// Computes from counted operations what Weir costs at Cloudflare's list prices: for a million info calls, and for a
// stream.

import { FRAMES_PER_REQUEST, OBJECT_GB, PER_GB_SECOND, PER_MILLION } from '../../src/http/platform/month-bill.ts'
import type { Counts } from './counted/counts.ts'

/** Dollars per million calls, where `calls` took `cpuMs` each and did what `counts` say. */
export function dollarsPerMillionCalls(calls: number, cpuMs: number, counts: Counts): number {
  const perCall = (count: number) => count / calls
  return (
    PER_MILLION.request +
    PER_MILLION.cpuMs * cpuMs +
    PER_MILLION.objectRequest * perCall(counts.meterWaits + counts.meterReports) +
    PER_MILLION.objectRowWritten * perCall(counts.rowsWritten) +
    PER_MILLION.kvRead * perCall(counts.kvReads) +
    PER_MILLION.kvWrite * perCall(counts.kvWrites) +
    PER_MILLION.d1RowWritten * perCall(counts.d1Statements)
  )
}

/** What the objects of a stream did. */
export interface Streamed {
  readonly requests: number
  readonly messages: number
  readonly rowsWritten: number
  /** Seconds of all objects that did not sleep. */
  readonly objectSeconds: number
}

/** Dollars for what objects did, each operation at its list price. */
export function dollarsOfObjects({ requests, messages, rowsWritten, objectSeconds }: Streamed): number {
  return (
    (PER_MILLION.objectRequest / 1e6) * (requests + messages / FRAMES_PER_REQUEST) +
    (PER_MILLION.objectRowWritten / 1e6) * rowsWritten +
    PER_GB_SECOND * OBJECT_GB * objectSeconds
  )
}
