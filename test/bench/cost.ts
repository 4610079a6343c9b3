// What a million info calls cost at Cloudflare's list prices, from counted operations.

import type { Counts } from './counted/counts.ts'

/** US dollars per million: pages of prices of Workers, Durable Objects, KV and D1 as of November 2026. */
const PER_MILLION = {
  request: 0.3,
  cpuMs: 0.02,
  objectRequest: 0.15,
  objectRowWritten: 1,
  kvRead: 0.5,
  kvWrite: 5,
  /** A statement of ours reads or writes a handful of rows; the dearer of the two. */
  d1Statement: 1,
} as const

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
    PER_MILLION.d1Statement * perCall(counts.d1Statements)
  )
}
