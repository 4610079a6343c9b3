import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts'
import { COMPONENTS, type HourRow, NO_AVAILABILITY } from '../../src/monitor/availability.ts'
import {
  bundleText,
  componentsOf,
  firstHourOf,
  HISTORY_DAYS,
  isBundleEnd,
  oldestHour,
  uptimePercent,
} from '../../src/monitor/history.ts'

const NOW = Date.UTC(2026, 10, 30, 12, 34)
const HOUR = Date.UTC(2026, 10, 30, 12)
const row = (hour: number, checks: number, failed: number, component: HourRow['component'] = 'api'): HourRow => ({
  hour,
  component,
  checks,
  failed,
  times: { 10: checks },
})

const anyRows = fc
  .uniqueArray(fc.tuple(fc.nat(HISTORY_DAYS * 24 - 30), fc.constantFrom(...COMPONENTS)), {
    selector: (each) => each.join(' '),
    maxLength: 80,
  })
  .chain((slots) =>
    fc.tuple(
      ...slots.map(([hoursAgo, component]) =>
        fc
          .tuple(fc.nat(60), fc.nat(60))
          .map(([good, failed]) => row(HOUR - (hoursAgo + 1) * HOUR_MS, good + failed, failed, component)),
      ),
    ),
  )

describe('the figures', () => {
  it('are those of the bundle and of the hour in progress', () => {
    fc.assert(
      fc.property(anyRows, fc.nat(60), (rows, checks) => {
        const current = { checks, failed: 0, times: { 5: checks } }
        const stored = { ...NO_AVAILABILITY, hour: HOUR, tallies: { api: current } }
        const { components, hour } = componentsOf(rows, stored, NOW)
        const lines = bundleText(rows)
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as (typeof hour)[number])
        for (const name of COMPONENTS) {
          const own = [...lines, ...hour].filter(({ component }) => component === name)
          const sum = (of: 'checks' | 'failed') => own.reduce((total, each) => total + each[of], 0)
          const shown = components.find((component) => component.name === name)
          expect(shown?.checks ?? 0).toBe(sum('checks'))
          expect(shown?.failed ?? 0).toBe(sum('failed'))
          for (const day of shown?.days ?? []) {
            const ofDay = own.filter((each) => each.hour.startsWith(day.date))
            expect(day.checks).toBe(ofDay.reduce((total, each) => total + each.checks, 0))
          }
        }
      }),
    )
  })

  it('show ninety days that end today, and days without checks as such', () => {
    const { components } = componentsOf([row(HOUR - 2 * DAY_MS, 60, 3)], NO_AVAILABILITY, NOW)
    const [api, ...others] = components
    expect(others).toEqual([])
    expect(api).toMatchObject({ name: 'api', state: 'unknown', uptimePercent: 95, checks: 60, failed: 3 })
    expect(api?.days).toHaveLength(90)
    expect(api?.days[0]?.date).toBe('2026-09-02')
    expect(api?.days.slice(-3)).toEqual([
      { date: '2026-11-28', checks: 60, failed: 3, p50Ms: 10, p99Ms: 10 },
      { date: '2026-11-29', checks: 0, failed: 0, p50Ms: null, p99Ms: null },
      { date: '2026-11-30', checks: 0, failed: 0, p50Ms: null, p99Ms: null },
    ])
  })

  it.each([
    [HOUR + 30 * MINUTE_MS, true, 'down'],
    [HOUR + 30 * MINUTE_MS, false, 'up'],
    [HOUR + 20 * MINUTE_MS, false, 'unknown'],
  ])('know the state by the last check', (atMs, isFailed, state) => {
    const stored = { ...NO_AVAILABILITY, last: { api: { atMs, isFailed } } }
    expect(componentsOf([row(HOUR - HOUR_MS, 1, 0)], stored, NOW).components[0]?.state).toBe(state)
  })
})

it.each([
  [0, 0, null],
  [1, 0, 100],
  [129_600, 1, 99.999],
  [10_000_000, 1, 99.999],
  [3, 1, 66.666],
  [5, 5, 0],
])('the uptime of %d checks with %d failed is %j', (checks, failed, expected) => {
  expect(uptimePercent({ checks, failed })).toBe(expected)
})

describe('a bundle', () => {
  it('has one line per component and hour', () => {
    expect(bundleText([row(HOUR, 60, 1), row(HOUR, 60, 0, 'streams')])).toBe(
      '{"hour":"2026-11-30T12:00:00.000Z","component":"api","checks":60,"failed":1,"times":{"10":60}}\n' +
        '{"hour":"2026-11-30T12:00:00.000Z","component":"streams","checks":60,"failed":0,"times":{"10":60}}\n',
    )
  })

  it.each([
    ['ends at the hour in progress', HOUR, true],
    ['ends two hours before', HOUR - 2 * HOUR_MS, true],
    ['ends earlier', HOUR - 3 * HOUR_MS, false],
    ['ends later', HOUR + HOUR_MS, false],
    ['ends within an hour', HOUR - 1, false],
  ])('%s', (_, untilMs, expected) => {
    expect(isBundleEnd(untilMs, HOUR)).toBe(expected)
  })

  it('covers the days of the figures, and its rows are kept while its address is valid', () => {
    expect(firstHourOf(HOUR)).toBe(Date.UTC(2026, 8, 2))
    expect(oldestHour(HOUR)).toBeLessThanOrEqual(firstHourOf(HOUR - DAY_MS))
  })
})
