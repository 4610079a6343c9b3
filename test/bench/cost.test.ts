import { describe, expect, it } from 'vitest'
import { dollarsOfObjects, dollarsPerMillionCalls } from './cost.ts'
import { noCounts } from './counted/counts.ts'

describe('dollars per million calls', () => {
  it('are a request and its CPU where nothing else is asked', () => {
    expect(dollarsPerMillionCalls(1000, 1, noCounts())).toBeCloseTo(0.32, 6)
  })

  it('count every kind of operation at its own price', () => {
    const counts = { kvReads: 2, kvWrites: 3, d1Statements: 5, meterWaits: 7, meterReports: 11, rowsWritten: 13 }
    expect(dollarsPerMillionCalls(1, 0, counts)).toBeCloseTo(0.3 + 1 + 15 + 5 + 2.7 + 13, 6)
  })
})

describe('dollars of objects', () => {
  it.each([
    [{ requests: 1e6 }, 0.15],
    [{ messages: 20e6 }, 0.15],
    [{ rowsWritten: 1e6 }, 1],
    [{ objectSeconds: 1e6 }, 1.6],
  ])('of %o are %d', (did, dollars) => {
    const nothing = { requests: 0, messages: 0, rowsWritten: 0, objectSeconds: 0 }
    expect(dollarsOfObjects({ ...nothing, ...did })).toBeCloseTo(dollars, 6)
  })
})
