import { describe, expect, it } from 'vitest'
import { dollarsPerMillionCalls } from './cost.ts'
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
