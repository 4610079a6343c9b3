// Invariants of src/metering/forecast.ts: the forecast day is the day on which a ledger charged daily runs dry.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { averageDay, type ForecastInput, forecastEnd } from '../../src/metering/forecast.ts'
import { renewalAfter } from '../../src/metering/plans/calendar.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 10, 1)
const CREDIT = 1_000_000
const NO_PLAN: ForecastInput = { left: 100 * CREDIT, ofPlan: 0, untilMs: null, anchorMs: NOW, everyMicro: 0 }

describe('forecastEnd', () => {
  it('returns the time at which a balance without additions is spent', () => {
    expect(forecastEnd(NO_PLAN, 10 * CREDIT, NOW)).toEqual({ ends: true, atMs: NOW + 10 * DAY })
    expect(forecastEnd({ ...NO_PLAN, left: 0 }, 10 * CREDIT, NOW)).toEqual({ ends: true, atMs: NOW })
  })

  it('returns the reason if it never ends', () => {
    expect(forecastEnd(NO_PLAN, 0, NOW)).toEqual({ ends: false, why: 'unused' })
    expect(forecastEnd(NO_PLAN, 1, NOW)).toEqual({ ends: false, why: 'far' })
    const monthly = { left: 310 * CREDIT, ofPlan: 310 * CREDIT, untilMs: renewalAfter(NOW, NOW), anchorMs: NOW }
    expect(forecastEnd({ ...monthly, everyMicro: 310 * CREDIT }, 10 * CREDIT, NOW)).toEqual({
      ends: false,
      why: 'renewed',
    })
    expect(forecastEnd({ ...NO_PLAN, left: Number.MAX_SAFE_INTEGER }, 1, NOW)).toEqual({ ends: false, why: 'far' })
  })

  it('ends with an expiring trial, used or not', () => {
    const trial = { left: 100, ofPlan: 100, untilMs: NOW + 14 * DAY, anchorMs: NOW, everyMicro: 0 }
    expect(forecastEnd(trial, 0, NOW)).toEqual({ ends: true, atMs: NOW + 14 * DAY })
    expect(forecastEnd(trial, 1, NOW)).toEqual({ ends: true, atMs: NOW + 14 * DAY })
    expect(forecastEnd({ ...trial, left: 101 }, 0, NOW)).toEqual({ ends: false, why: 'unused' })
  })

  it('equals a ledger charged day by day', () => {
    const standing = fc.record({
      beside: fc.integer({ min: 0, max: 2_000 }),
      ofPlan: fc.integer({ min: 0, max: 400 }),
      everyMicro: fc.integer({ min: 0, max: 400 }),
      perDay: fc.integer({ min: 1, max: 60 }),
    })
    fc.assert(
      fc.property(standing, ({ beside, ofPlan, everyMicro, perDay }) => {
        const untilMs = renewalAfter(NOW, NOW)
        const told = forecastEnd({ left: beside + ofPlan, ofPlan, untilMs, anchorMs: NOW, everyMicro }, perDay, NOW)
        // Forecast as an end, but later than the simulated ledger.
        if (told.ends && told.atMs >= NOW + 3_599 * DAY) return
        let plan = ofPlan
        let rest = beside
        let end = untilMs
        let day = NOW
        while (plan + rest > 0 && day < NOW + 3_600 * DAY) {
          const used = Math.min(perDay, plan + rest)
          const short = used < perDay
          rest -= Math.max(0, used - plan)
          plan = Math.max(0, plan - used)
          if (short) break
          day += DAY
          if (day >= end) {
            plan = everyMicro
            end = everyMicro > 0 ? renewalAfter(NOW, day) : Number.POSITIVE_INFINITY
          }
        }
        const isDry = day < NOW + 3_600 * DAY
        expect(told.ends).toBe(isDry)
        if (told.ends) expect(Math.abs(told.atMs - day)).toBeLessThanOrEqual(DAY)
      }),
      { numRuns: 2_000, examples: [[{ beside: 1_210, ofPlan: 2, everyMicro: 267, perDay: 9 }]] },
    )
  })
})

describe('averageDay', () => {
  it('averages from the first day with usage, in whole micro-credits', () => {
    expect(averageDay([])).toBe(0)
    expect(averageDay([0, 0, 0])).toBe(0)
    expect(averageDay([0, 0, 10, 0, 1])).toBe(3)
    expect(averageDay([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])).toBe(Number.MAX_SAFE_INTEGER)
  })
})
