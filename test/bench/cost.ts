// What Weir costs at Cloudflare's list prices: a million info calls, from counted operations; and a month of standing
// ready, from what its objects do with every block and every second.

import { ROTATION_MS } from '../../src/book/rotation.ts'
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

export interface Standing {
  readonly blocksPerSecond: number
  readonly hubs: number
  /** Relays that have subscribers. */
  readonly relays: number
  /** Coins whose books change at least every half minute. */
  readonly coins: number
}

/** Of the paid plan, a month. */
const INCLUDED = { gbSeconds: 400_000, objectRequests: 1_000_000, rowsWritten: 50_000_000 } as const
const PLAN = 5
const PER_GB_SECOND = 12.5e-6
const OBJECT_GB = 0.128
const MONTH_S = 30 * 24 * 3600
/** Frames that an object gets for one billed request. */
const FRAMES_PER_REQUEST = 20
/** Of the log: two segments written, two removed, the chain. */
const LOG_ROWS_PER_SECOND = 5
/** A checkpoint replaces the row of its coin. */
const CHECKPOINT_ROWS = 2

/** Dollars for a month in which a feeder is connected and objects never sleep, before any call. */
export function dollarsPerMonth({ blocksPerSecond, hubs, relays, coins }: Standing): number {
  const above = (used: number, included: number) => Math.max(0, used - included)
  // Each block is a frame to the log, to each hub, and to each relay one from the log and one from each hub.
  const framesPerBlock = 1 + hubs + relays * (1 + hubs)
  const requests = (MONTH_S * blocksPerSecond * framesPerBlock) / FRAMES_PER_REQUEST
  const rows = MONTH_S * (LOG_ROWS_PER_SECOND + (coins * CHECKPOINT_ROWS * 1000) / ROTATION_MS)
  return (
    PLAN +
    PER_GB_SECOND * above(MONTH_S * OBJECT_GB * (1 + hubs + relays), INCLUDED.gbSeconds) +
    (PER_MILLION.objectRequest / 1e6) * above(requests, INCLUDED.objectRequests) +
    (PER_MILLION.objectRowWritten / 1e6) * above(rows, INCLUDED.rowsWritten)
  )
}
