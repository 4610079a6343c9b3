// How much a lease is given: from a well-filled account ahead of need, near its end call by call, and never more than is
// there.

import { describe, expect, it } from 'vitest'
import { grantSize } from '../../src/metering/ledger.ts'

type Account = Parameters<typeof grantSize>[0]

const account = (available: number, more = {}) => ({ available, spent: 1_000, writtenOff: 0, ...more }) as Account
const size = (of: Account, need: number, waiting: number, forecast: number) =>
  grantSize(of, { need, waiting, forecast })

describe('the size of a grant', () => {
  it('is none where the call at hand cannot be paid, and nothing where it costs nothing', () => {
    expect([size(account(9), 10, 10, 0), size(account(10), 10, 10, 0), size(account(9), 0, 5, 5)]).toEqual([
      null,
      10,
      0,
    ])
  })

  it('is what is forecast, of a sixteenth of the balance at most, and what waits in any case', () => {
    expect(size(account(1_600), 10, 10, 70)).toBe(70)
    expect(size(account(1_607), 10, 10, 500)).toBe(100)
    expect(size(account(1_600), 10, 300, 500)).toBe(300)
    expect(size(account(1_600), 10, 9_999, 0)).toBe(1_600)
    expect(size(account(1_600), 10, 3, 0)).toBe(10)
  })

  it('is what waits alone below 64 calls', () => {
    expect(size(account(639), 10, 20, 500)).toBe(20)
    expect(size(account(640), 10, 20, 500)).toBe(40)
  })

  it('is what waits alone where more than a hundredth of what was spent was written off', () => {
    expect(size(account(1_600, { writtenOff: 10 }), 10, 20, 500)).toBe(100)
    expect(size(account(1_600, { writtenOff: 11 }), 10, 20, 500)).toBe(20)
  })
})
