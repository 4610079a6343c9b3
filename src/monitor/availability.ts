// Availability of the components by hour, from what the Monitor reads at each check. Invariants
// (test/monitor/availability.test.ts): each check counts in one hour, each request in at most one check; a component that
// says nothing is not checked, so it is neither up nor down; the stored state and each row are bounded.

import type { SeriesValue } from '../core/counters.ts'
import { HOUR_MS } from '../core/time.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { ARCHIVE_LATE_MS } from './alerts.ts'
import { DURATION_BOUNDS_MS } from './request-counts.ts'

export const COMPONENTS = ['api', 'streams', 'archive', 'pipelines', 'json_rpc'] as const
export type Component = (typeof COMPONENTS)[number]

/** Surfaces whose requests are counted for a component. */
const REQUEST_SURFACES = { api: ['info', 'platform', 'mcp'], json_rpc: ['rpc'] } as const
type RequestComponent = keyof typeof REQUEST_SURFACES

/** A check of requests fails if more of them than this failed with a 5xx. */
const FAILED_SHARE = 0.05
const PIPELINE_LATE_MS = 120_000

/** Upper bounds of times. Longer times count in the last one. */
const TIME_BOUNDS_MS = [
  1, 5, 10, 25, 50, 75, 100, 150, 200, 250, 300, 400, 500, 750, 1_000, 1_500, 2_000, 2_500, 3_000, 5_000, 10_000,
  30_000, 60_000, 90_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
] as const
const LONGEST_MS = 3_600_000

/** Numbers of times, by upper bound in ms. */
export type Times = Readonly<Record<string, number>>

/** Checks of some time. */
export interface Tally {
  readonly checks: number
  readonly failed: number
  readonly times: Times
}

/** The checks of a component in an hour. */
export interface HourRow extends Tally {
  /** Start of the hour, Unix ms. */
  readonly hour: number
  readonly component: Component
}

/** Requests since the counters began. */
interface RequestSums {
  readonly requests: number
  readonly failed: number
  readonly times: Times
}

/** Stored form. */
export interface StoredAvailability {
  /** Start of the current hour, Unix ms. */
  readonly hour: number
  readonly tallies: Readonly<Partial<Record<Component, Tally>>>
  readonly sums: Readonly<Record<RequestComponent, RequestSums>> | null
  /** The last check of each component. */
  readonly last: Readonly<Partial<Record<Component, { readonly atMs: number; readonly isFailed: boolean }>>>
}

export const NO_AVAILABILITY: StoredAvailability = { hour: 0, tallies: {}, sums: null, last: {} }

export interface CheckFacts {
  readonly atMs: number
  /** Null if the log did not answer. */
  readonly status: Pick<LogStatus, 'state' | 'height' | 'time' | 'regions' | 'archive'> | null
  readonly sums: readonly SeriesValue[]
  readonly gauges: readonly SeriesValue[]
}

interface Observation {
  readonly isFailed: boolean
  readonly times: Times
}

/** One check. `finished`: rows of the hour that this check ends. */
export function checkAvailability(
  stored: StoredAvailability,
  facts: CheckFacts,
): { readonly next: StoredAvailability; readonly finished: readonly HourRow[] } {
  const hour = startOfHour(facts.atMs)
  const isSameHour = hour === stored.hour
  const sums = { api: requestSums(facts.sums, 'api'), json_rpc: requestSums(facts.sums, 'json_rpc') }
  const found: Readonly<Record<Component, Observation | null>> = {
    api: requestsBetween(stored.sums?.api, sums.api),
    streams: streamsFound(facts),
    archive: archiveFound(facts),
    pipelines: pipelinesFound(facts),
    json_rpc: requestsBetween(stored.sums?.json_rpc, sums.json_rpc),
  }
  const tallies: Partial<Record<Component, Tally>> = isSameHour ? { ...stored.tallies } : {}
  const last = { ...stored.last }
  for (const component of COMPONENTS) {
    const one = found[component]
    if (one === null) continue
    const check = { checks: 1, failed: one.isFailed ? 1 : 0, times: one.times }
    tallies[component] = sumOf([tallies[component] ?? NO_CHECKS, check])
    last[component] = { atMs: facts.atMs, isFailed: one.isFailed }
  }
  return { next: { hour, tallies, sums, last }, finished: isSameHour ? [] : currentRows(stored) }
}

const startOfHour = (unixMs: number) => Math.floor(unixMs / HOUR_MS) * HOUR_MS

/** Rows of the hour in progress. */
export function currentRows({ hour, tallies }: StoredAvailability): HourRow[] {
  return COMPONENTS.flatMap((component) => {
    const tally = tallies[component]
    return tally === undefined ? [] : [{ hour, component, ...tally }]
  })
}

const NO_CHECKS: Tally = { checks: 0, failed: 0, times: {} }

export function sumOf(tallies: readonly Tally[]): Tally {
  const times: Record<string, number> = {}
  let checks = 0
  let failed = 0
  for (const tally of tallies) {
    checks += tally.checks
    failed += tally.failed
    for (const [bound, count] of Object.entries(tally.times)) times[bound] = (times[bound] ?? 0) + count
  }
  return { checks, failed, times }
}

/** The bound below which this share of the times lies; null without times. */
export function percentileMs(times: Times, share: number): number | null {
  const bounds = Object.entries(times).map(([bound, count]) => [Number(bound), count] as const)
  const needed = share * bounds.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [bound, count] of bounds.sort(([a], [b]) => a - b)) {
    seen += count
    if (seen > 0 && seen >= needed) return bound
  }
  return null
}

const boundOf = (ms: number) => TIME_BOUNDS_MS.find((bound) => ms <= bound) ?? LONGEST_MS
const oneTime = (ms: number): Times => ({ [boundOf(Math.max(0, ms))]: 1 })

function requestSums(sums: readonly SeriesValue[], component: RequestComponent): RequestSums {
  const surfaces: readonly string[] = REQUEST_SURFACES[component]
  const times: Record<string, number> = {}
  let requests = 0
  let failed = 0
  for (const [series, value] of sums) {
    const [name, surface = '', label] = series.split('|')
    if (!surfaces.includes(surface)) continue
    if (name === 'requests') {
      requests += value
      if (Number(label) >= 500) failed += value
    } else if (name === 'duration') {
      const bound = DURATION_BOUNDS_MS[Number(label)]
      // The last bucket of requests has no bound.
      const shown = bound ?? boundOf((DURATION_BOUNDS_MS.at(-1) ?? 0) + 1)
      times[shown] = (times[shown] ?? 0) + value
    }
  }
  return { requests, failed, times }
}

/** Null without requests in between, or if the counters started over. */
function requestsBetween(before: RequestSums | undefined, now: RequestSums): Observation | null {
  const requests = now.requests - (before?.requests ?? now.requests)
  if (before === undefined || requests <= 0) return null
  const times = Object.entries(now.times).map(([bound, count]) => [bound, count - (before.times[bound] ?? 0)] as const)
  return {
    isFailed: now.failed - before.failed > requests * FAILED_SHARE,
    times: Object.fromEntries(times.filter(([, count]) => count > 0)),
  }
}

/** The time is the median age of blocks at delivery in the slowest region, or without clients the age of the last block. */
function streamsFound({ status, atMs }: CheckFacts): Observation | null {
  if (status === null) return { isFailed: true, times: {} }
  const { height, state, regions, time } = status
  if (height === null || time === null) return null
  const ageMs = regions.length === 0 ? atMs - time : Math.max(...regions.map(({ p50Ms }) => p50Ms))
  return { isFailed: state !== 'live', times: oneTime(ageMs) }
}

function archiveFound({ status }: CheckFacts): Observation | null {
  const lagMs = status?.archive?.lagMs ?? null
  return lagMs === null ? null : { isFailed: lagMs > ARCHIVE_LATE_MS, times: oneTime(lagMs) }
}

/** Counts only pipelines at the head of the log. Those that retry or fail wait for their customer's destination. */
function pipelinesFound({ sums, gauges }: CheckFacts): Observation | null {
  if (!sums.some(([series]) => series === 'object_starts|Sink')) return null
  const lagMs = 1_000 * (gauges.find(([series]) => series === 'pipeline_lag_seconds|live')?.[1] ?? 0)
  return { isFailed: lagMs > PIPELINE_LATE_MS, times: oneTime(lagMs) }
}
