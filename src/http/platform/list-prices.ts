// What the platform costs an operator, at its list prices: from what is counted, and from what stands there. Law: dollars
// here are an estimate for a person, and never an amount of anybody's credits.

import { ROTATION_MS } from '../../order-books/rotation.ts'

/** US dollars per million: pages of prices of Workers, Durable Objects, KV and D1 as of November 2026. */
export const PER_MILLION = {
  request: 0.3,
  cpuMs: 0.02,
  objectRequest: 0.15,
  objectRowWritten: 1,
  kvRead: 0.5,
  kvWrite: 5,
  /** A statement of ours reads or writes a handful of rows; the dearer of the two. */
  d1Statement: 1,
} as const

export const PER_GB_SECOND = 12.5e-6
export const OBJECT_GB = 0.128
/** Frames that an object gets for one billed request. */
export const FRAMES_PER_REQUEST = 20

/** Of the paid plan, a month. */
const INCLUDED = { gbSeconds: 400_000, objectRequests: 1_000_000, rowsWritten: 50_000_000 } as const
const PLAN = 5
const MONTH_S = 30 * 24 * 3600
/** Of the log: two segments written, two removed, the chain. */
const LOG_ROWS_PER_SECOND = 5
/** A checkpoint replaces the row of its coin. */
const CHECKPOINT_ROWS = 2

export interface Standing {
  readonly blocksPerSecond: number
  readonly hubs: number
  /** Relays that have subscribers. */
  readonly relays: number
  /** Coins whose books change at least every half minute. */
  readonly coins: number
}

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

/** What a thousand calls of a key that calls once a second do (docs/benchmarks.md#what-a-call-costs). */
const OF_1000_CALLS = { meter: 105, rowsWritten: 402, kv: 34, d1: 22, cpuMs: 1_000 } as const
/** Of the exchange, and of a gateway that nobody has set up otherwise. */
const ASSUMED = { blocksPerSecond: 14.5, coins: 300 } as const

const callDollars =
  (PER_MILLION.request * 1_000 +
    PER_MILLION.cpuMs * OF_1000_CALLS.cpuMs +
    PER_MILLION.objectRequest * OF_1000_CALLS.meter +
    PER_MILLION.objectRowWritten * OF_1000_CALLS.rowsWritten +
    PER_MILLION.kvRead * OF_1000_CALLS.kv +
    PER_MILLION.d1Statement * OF_1000_CALLS.d1) /
  1e9

/** Dollars for a period of so many days with so many calls. */
export function dollarsOfPeriod(days: number, calls: number, { hubs, relays }: Pick<Standing, 'hubs' | 'relays'>) {
  const standing = (dollarsPerMonth({ ...ASSUMED, hubs, relays }) * days) / 30
  return { standing, calls: callDollars * calls, total: standing + callDollars * calls }
}

/** In words, what the estimate takes for granted. */
export const COST_ASSUMPTIONS = [
  `Objects never sleep: log, hubs, and the relays that serve clients now, at ${ASSUMED.blocksPerSecond} blocks a second and ${ASSUMED.coins} coins.`,
  'A call costs what a call of a key that calls once a second does.',
  'Not counted: minutes and frames of streams beyond what a relay costs, rows of pipelines, files, traffic of sources.',
] as const
