import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SeriesValue } from '../../src/core/counters.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts'
import {
  type CheckFacts,
  COMPONENTS,
  checkAvailability,
  currentRows,
  type HourRow,
  NO_AVAILABILITY,
  percentileMs,
  sumOf,
} from '../../src/monitor/availability.ts'
import { HISTORY_DAYS } from '../../src/monitor/history.ts'
import { DURATION_BOUNDS_MS } from '../../src/monitor/request-counts.ts'

const START = Date.UTC(2026, 10, 30, 12)
const LIVE = { state: 'live', height: 10, time: START, regions: [], archive: null } as const
const facts = (minute: number, more: Partial<CheckFacts> = {}): CheckFacts => ({
  atMs: START + minute * MINUTE_MS,
  status: { ...LIVE, time: START + minute * MINUTE_MS - 120 },
  sums: [],
  gauges: [],
  ...more,
})

/** Runs checks, and returns the finished rows and those of the hour in progress. */
function rowsAfter(checks: readonly CheckFacts[]): HourRow[] {
  let stored = NO_AVAILABILITY
  const finished = checks.flatMap((check) => {
    const result = checkAvailability(stored, check)
    stored = result.next
    return result.finished
  })
  return [...finished, ...currentRows(stored)]
}
const tallyOf = (rows: readonly HourRow[], component: HourRow['component']) =>
  sumOf(rows.filter((row) => row.component === component))

const archive = (lagMs: number | null) => ({
  height: 1,
  behind: 1,
  lagMs,
  segments: 1,
  checkpoint: null,
  failure: null,
  files: null,
})
const region = (p50Ms: number) => ({ region: 'weur', relays: 1, sockets: 1, subscriptions: 1, p50Ms, p99Ms: 900 })

describe('a check of', () => {
  it.each([
    ['a live feed', LIVE, { checks: 1, failed: 0 }],
    ['a feed that is late', { ...LIVE, state: 'late' }, { checks: 1, failed: 1 }],
    ['a log that does not answer', null, { checks: 1, failed: 1 }],
    [
      'a log that never had a block',
      { ...LIVE, state: 'no_feeder', height: null, time: null },
      { checks: 0, failed: 0 },
    ],
  ] as const)('streams sees %s', (_, status, expected) => {
    expect(tallyOf(rowsAfter([facts(0, { status })]), 'streams')).toMatchObject(expected)
  })

  it('streams measures the slowest region, or without clients the age of the last block', () => {
    const slow = facts(0, { status: { ...LIVE, regions: [region(80), region(240), region(20)] } })
    expect(tallyOf(rowsAfter([slow]), 'streams').times).toEqual({ 250: 1 })
    expect(tallyOf(rowsAfter([facts(0)]), 'streams').times).toEqual({ 150: 1 })
    const behind = facts(0, { status: { ...LIVE, time: START - 40 * HOUR_MS } })
    expect(tallyOf(rowsAfter([behind]), 'streams').times).toEqual({ 3600000: 1 })
  })

  it.each([
    ['600 s behind', archive(600_000), { checks: 1, failed: 0 }],
    ['more than 600 s behind', archive(600_001), { checks: 1, failed: 1 }],
    ['that has not reported', archive(null), { checks: 0, failed: 0 }],
    ['that is not configured', null, { checks: 0, failed: 0 }],
  ])('an archive %s', (_, shown, expected) => {
    const rows = rowsAfter([facts(0, { status: { ...LIVE, archive: shown } })])
    expect(tallyOf(rows, 'archive')).toMatchObject(expected)
  })

  const SINK: SeriesValue = ['object_starts|Sink', 1]
  it.each<[string, SeriesValue[], SeriesValue[], object]>([
    ['none exists', [], [['pipeline_lag_seconds|live', 999]], { checks: 0 }],
    ['none is late', [SINK], [], { checks: 1, failed: 0, times: { 1: 1 } }],
    ['one at the head is late', [SINK], [['pipeline_lag_seconds|live', 121]], { checks: 1, failed: 1 }],
    ['a destination fails', [SINK], [['pipeline_lag_seconds|retrying', 9_999]], { checks: 1, failed: 0 }],
  ])('pipelines if %s', (_, sums, gauges, expected) => {
    expect(tallyOf(rowsAfter([facts(0, { sums, gauges })]), 'pipelines')).toMatchObject(expected)
  })

  it('requests counts those since the last check, of its own surfaces', () => {
    const at = (minute: number, ...sums: SeriesValue[]) => facts(minute, { sums })
    const rows = rowsAfter([
      at(0, ['requests|info|200', 1_000], ['requests|info|503', 1_000]),
      // Nothing new.
      at(1, ['requests|info|200', 1_000], ['requests|info|503', 1_000]),
      // 5 % failed, then more.
      at(
        2,
        ['requests|info|200', 1_095],
        ['requests|info|503', 1_005],
        ['duration|info|2', 95],
        ['duration|info|12', 5],
      ),
      at(
        3,
        ['requests|info|200', 1_095],
        ['requests|info|503', 1_005],
        ['requests|platform|500', 1],
        ['duration|info|2', 95],
        ['duration|info|12', 5],
      ),
      at(
        4,
        ['requests|info|429', 50],
        ['requests|info|200', 1_095],
        ['requests|info|503', 1_005],
        ['requests|platform|500', 1],
        ['requests|rpc|502', 7],
        ['duration|info|2', 95],
        ['duration|info|12', 5],
      ),
    ])
    expect(tallyOf(rows, 'api')).toEqual({ checks: 3, failed: 1, times: { 10: 95, 30000: 5 } })
    expect(tallyOf(rows, 'json_rpc')).toEqual({ checks: 1, failed: 1, times: {} })
  })

  it('requests starts over if the counters did', () => {
    const sums = (count: number): SeriesValue[] => [['requests|info|500', count]]
    const rows = rowsAfter([facts(0, { sums: sums(9) }), facts(1, { sums: sums(2) }), facts(2, { sums: sums(3) })])
    expect(tallyOf(rows, 'api')).toMatchObject({ checks: 1, failed: 1 })
  })
})

const anyFacts = fc
  .array(
    fc.record({
      afterMs: fc.integer({ min: 1, max: 2 * HOUR_MS }),
      isLive: fc.boolean(),
      lagMs: fc.integer({ min: 0, max: 10 * HOUR_MS }),
      requests: fc.nat(50),
      failed: fc.nat(5),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let atMs = START
    let requests = 0
    let failed = 0
    return steps.map((step): CheckFacts => {
      atMs += step.afterMs
      requests += step.requests
      failed += step.failed
      return {
        atMs,
        status: { ...LIVE, time: atMs, state: step.isLive ? 'live' : 'late', archive: archive(step.lagMs) },
        sums: [
          ['requests|info|200', requests],
          ['requests|info|500', failed],
          [`duration|info|${DURATION_BOUNDS_MS.length}`, requests + failed],
        ],
        gauges: [],
      }
    })
  })

describe('hours', () => {
  it('have each check once, and each request at most once', () => {
    fc.assert(
      fc.property(anyFacts, (checks) => {
        const rows = rowsAfter(checks)
        expect(new Set(rows.map(({ hour, component }) => `${hour} ${component}`)).size).toBe(rows.length)
        expect(rows.every(({ hour }) => hour % HOUR_MS === 0)).toBe(true)
        const streams = tallyOf(rows, 'streams')
        expect(streams.checks).toBe(checks.length)
        expect(streams.failed).toBe(checks.filter(({ status }) => status?.state !== 'live').length)
        for (const row of rows) {
          const inHour = checks.filter(({ atMs }) => atMs >= row.hour && atMs < row.hour + HOUR_MS)
          expect(row.checks).toBeLessThanOrEqual(inHour.length)
        }
        const totalOf = (one?: CheckFacts) => one?.sums.find(([series]) => series.startsWith('duration'))?.[1] ?? 0
        const counted = Object.values(tallyOf(rows, 'api').times).reduce((sum, count) => sum + count, 0)
        expect(counted).toBe(totalOf(checks.at(-1)) - totalOf(checks[0]))
      }),
    )
  })

  it('are bounded: a row has a number per bound, and there are five rows an hour', () => {
    const checks = Array.from({ length: 3_000 }, (_, i) =>
      facts(i / 50, {
        status: { ...LIVE, archive: archive(i * i), regions: [region(i * 3)] },
        sums: [
          ['object_starts|Sink', 1],
          ['requests|info|200', i],
          ['duration|info|3', i],
          ['requests|rpc|200', i],
        ],
      }),
    )
    const rows = rowsAfter(checks)
    expect(rows.length).toBe(COMPONENTS.length)
    // With these rows, ninety days are about 3 MB.
    expect(rows.length * 24 * HISTORY_DAYS).toBe(10_800)
    for (const row of rows) expect(JSON.stringify(row).length).toBeLessThan(500)
  })
})

describe('a percentile', () => {
  it.each([
    [{}, 0.5, null],
    [{ 10: 1 }, 0.99, 10],
    [{ 1000: 1, 50: 98, 250: 1 }, 0.5, 50],
    [{ 1000: 1, 50: 98, 250: 1 }, 0.99, 250],
    [{ 1000: 2, 50: 98 }, 0.99, 1_000],
  ])('of %j at %d is %j', (times, share, expected) => {
    expect(percentileMs(times, share)).toBe(expected)
  })
})
