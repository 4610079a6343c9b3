// The calendar of archived days: states, texts, keys and requests.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Coverage,
  calendarWeeks,
  coverageWindows,
  coveredDays,
  coveredHours,
  DAY_MS,
  dayOf,
  dayTextOf,
  exportCommands,
  exportRange,
  type Gap,
  hourOf,
  hourTextOf,
  mergedCoverage,
  nextDay,
  nextHour,
  replayAddress,
} from '../../src/console/owner/data-coverage.ts'

const DAY = Date.UTC(2026, 10, 20)
const AT_14_03 = DAY + 14 * 3_600_000 + 180_000
const BYTES = { segments: 1, events_bytes: 1, books_bytes: 1, checkpoints: 0, checkpoints_bytes: 0 }

/** 1,000 blocks a day from 20 Nov on, until noon of 22 Nov. */
const COVERAGE: Coverage = {
  chain: 'hyperliquid',
  from: { height: 1_000, time_ms: DAY + 3_600_000 },
  to: { height: 3_499, time_ms: DAY + 2.5 * DAY_MS },
  files: { from: null, to: null, holes: [] },
  repairs: [],
  totals: { ...BYTES, blocks: 2_500 },
  days: [0, 1, 2].map((day) => ({
    day: new Date(DAY + day * DAY_MS).toISOString().slice(0, 10),
    from_height: 1_000 * (day + 1),
    to_height: 1_000 * (day + 1) + (day === 2 ? 499 : 999),
    blocks: day === 2 ? 500 : 1_000,
    ...BYTES,
  })),
  hours: null,
}
const gap = (more: Partial<Gap>): Gap => ({
  from_height: 1_500,
  to_height: 1_511,
  after_ms: AT_14_03,
  before_ms: AT_14_03 + 5_000,
  state: 'open',
  ...more,
})
const repair = { from_height: 2_100, to_height: 2_111, books: true, source: 'tokyo', at_ms: 5 }
const textsOf = (coverage: Coverage, gaps: readonly Gap[] = []) =>
  coveredDays(
    [-1, 0, 1, 2, 3].map((day) => DAY + day * DAY_MS),
    coverage,
    gaps,
  ).map((day) => [day.state, dayTextOf(day)])

describe('a day', () => {
  it('is complete within the archive, and not archived before and after it', () => {
    expect(textsOf(COVERAGE)).toEqual([
      ['none', '19 Nov 2026: not archived.'],
      ['complete', '20 Nov 2026: complete from 01:00. 1,000 blocks.'],
      ['complete', '21 Nov 2026: complete. 1,000 blocks.'],
      ['complete', '22 Nov 2026: complete until 12:00. 500 blocks.'],
      ['none', '23 Nov 2026: not archived.'],
    ])
  })

  it('says what is missing, repaired or known in part', () => {
    const times = { from_ms: AT_14_03 + DAY_MS }
    const holes = [{ from_height: 3_000, to_height: 3_009, known: 'fills' as const }]
    const coverage: Coverage = {
      ...COVERAGE,
      repairs: [{ ...repair, ...times, known: 'events' }],
      files: { from: null, to: null, holes },
    }
    expect(textsOf(coverage, [gap({})]).slice(1, 4)).toEqual([
      ['partial', '20 Nov 2026: complete from 01:00 but for 12 blocks after 14:03. 1,000 blocks.'],
      ['repaired', '21 Nov 2026: complete. 12 blocks at 14:03 repaired from tokyo. 1,000 blocks.'],
      ['partial', '22 Nov 2026: archived until 12:00. Only the fills of 10 blocks are known. 500 blocks.'],
    ])
    const fills: Coverage = { ...COVERAGE, repairs: [{ ...repair, from_ms: null, known: 'fills' }] }
    expect(textsOf(fills)[2]).toEqual([
      'partial',
      '21 Nov 2026: archived. Only the fills of 12 blocks are known. 12 blocks repaired from tokyo. 1,000 blocks.',
    ])
  })

  it('is missing if a gap covers it, and lists only some of many gaps', () => {
    const days = COVERAGE.days.filter((_, at) => at !== 1)
    const whole = gap({ after_ms: DAY + DAY_MS - 1, before_ms: DAY + 2 * DAY_MS, state: 'beyond_repair' })
    expect(textsOf({ ...COVERAGE, days }, [whole])[2]).toEqual(['gap', '21 Nov 2026: no block is archived.'])
    const many = Array.from({ length: 5 }, (_, at) => gap({ to_height: 1_500, after_ms: AT_14_03 + at * 60_000 }))
    expect(textsOf(COVERAGE, many)[1]?.[1]).toBe(
      '20 Nov 2026: complete from 01:00 but for 1 block after 14:03, 1 block after 14:04, 1 block after 14:05, and 2 more. 1,000 blocks.',
    )
  })
})

it('tells the hours of a day apart', () => {
  const hours = [
    { hour: 13, from_height: 1_400, to_height: 1_449, blocks: 50, ...BYTES },
    { hour: 14, from_height: 1_450, to_height: 1_549, blocks: 88, ...BYTES },
  ]
  const of = coveredHours(DAY, { ...COVERAGE, hours }, [gap({})])
  expect(of.map(({ state }) => state).slice(12, 16)).toEqual(['none', 'complete', 'partial', 'none'])
  expect(hourTextOf(of[14]!)).toBe('14:00: complete but for 12 blocks after 14:03. 88 blocks.')
})

describe('the calendar', () => {
  it('has 52 weeks that begin on Mondays and end today, whatever day it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (nowMs) => {
        const weeks = calendarWeeks(nowMs)
        const days = weeks.flat().filter((day) => day !== null)
        expect(weeks).toHaveLength(52)
        expect(new Date(days[0]!).getUTCDay()).toBe(1)
        expect(days.at(-1)).toBe(Math.floor(nowMs / DAY_MS) * DAY_MS)
        expect(days.every((day, at) => at === 0 || day - days[at - 1]! === DAY_MS)).toBe(true)
        const windows = coverageWindows(days[0]!, nowMs)
        expect(windows).toHaveLength(4)
        expect(windows.at(-1)!.fromMs).toBe(days[0])
        for (const [at, { fromMs, toMs }] of windows.entries()) {
          expect(toMs - fromMs).toBeLessThan(92 * DAY_MS)
          if (at > 0) expect(windows[at - 1]!.fromMs).toBe(toMs + 1)
        }
      }),
    )
  })

  it('is read with the arrow keys, and never left by them', () => {
    const first = DAY - 100 * DAY_MS
    const to = (key: string, at = DAY) => (nextDay(key, at, first, DAY)! - DAY) / DAY_MS
    expect(['ArrowUp', 'ArrowLeft', 'PageUp', 'Home', 'ArrowDown', 'End'].map((key) => to(key))).toEqual([
      -1, -7, -28, -100, 0, 0,
    ])
    expect(to('ArrowLeft', first)).toBe(-100)
    expect(nextDay('Tab', DAY, first, DAY)).toBeNull()
    expect(['ArrowLeft', 'ArrowRight', 'End', 'Enter'].map((key) => nextHour(key, 0))).toEqual([0, 1, 23, null])
  })

  it('joins the days of several requests in order', () => {
    const [a, b, c] = COVERAGE.days.map((day) => ({ ...COVERAGE, days: [day] }))
    expect(mergedCoverage([c!, b!, a!])).toEqual(COVERAGE)
  })
})

describe('an address', () => {
  it('names a day and an hour, and anything else is ignored', () => {
    expect(dayOf('2026-11-20')).toBe(DAY)
    expect(['2026-11-31x', '', 'x', '2026-13-01'].map(dayOf)).toEqual([null, null, null, null])
    expect(['0', '09', '23', '24', '-1', ''].map(hourOf)).toEqual([0, 9, 23, null, null, null])
  })

  it('gives the range of an export', () => {
    const day = '2026-11-20'
    const range = (from: string, to: string, hour = '') => {
      const { fromMs, toMs } = exportRange({ from, to, hour }, DAY + 5)
      return [fromMs - DAY, toMs - DAY]
    }
    expect(range('', '')).toEqual([0, DAY_MS - 1])
    expect(range(day, day, '14')).toEqual([50_400_000, 53_999_999])
    expect(range(day, '2026-11-21', '14')).toEqual([0, 2 * DAY_MS - 1])
  })

  it('starts a replay', () => {
    expect(replayAddress('@107', AT_14_03)).toBe('/live?coin=%40107&replay=2026-11-20T14:03:00')
    expect(replayAddress('', DAY)).toBe('/live?replay=2026-11-20T00:00:00')
  })
})

it('gives commands for exactly the range', () => {
  const text = exportCommands('https://weir.example', 'hyperliquid', { fromMs: DAY, toMs: DAY + 9 })
  expect(text).toContain(`https://weir.example/v1/hyperliquid/history/files?from=${DAY}&to=${DAY + 9}&products=`)
  expect(text).toContain('SHA256SUMS?day=2026-11-20"')
})
