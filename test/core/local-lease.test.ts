import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LocalLease, SerialExchanges, UsageRate } from '../../src/core/local-lease.ts'

const Step = fc.record({
  do: fc.constantFrom('hold', 'settle', 'release', 'grant', 'giveBack', 'report', 'pass'),
  amount: fc.nat(1_000),
})

describe('LocalLease', () => {
  it('covers spent and reserved amounts in any order of calls, and reserves nothing after its end', () => {
    fc.assert(
      fc.property(fc.array(Step, { maxLength: 200 }), (steps) => {
        const lease = new LocalLease('a')
        const inFlight: number[] = []
        let nowMs = 0
        let isOver = false
        for (const { do: what, amount } of steps) {
          if (what === 'hold' && lease.reserve(amount, nowMs)) {
            expect(isOver).toBe(false)
            inFlight.push(amount)
          } else if (what === 'grant') lease.grant(amount, amount)
          else if (what === 'giveBack') lease.giveBack(Math.min(amount, lease.free))
          else if (what === 'report') lease.acknowledge(lease.spent)
          else if (what === 'pass') nowMs += amount
          else if (inFlight.length > 0) {
            const held = inFlight.pop()!
            if (what === 'release') lease.release(held)
            else lease.settle(held, Math.min(held, amount))
          }
          isOver = nowMs >= lease.untilMs
          expect(lease.reserved).toBe(inFlight.reduce((sum, one) => sum + one, 0))
          expect(lease.granted).toBeGreaterThanOrEqual(lease.spent + lease.reserved)
          expect(lease.unreported).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})

describe('UsageRate', () => {
  it('forecasts usage, and nothing from old usage', () => {
    const rate = new UsageRate()
    rate.count(10)
    rate.count(-2)
    expect([rate.forecast(1_000, 2_000), rate.forecast(500, 2_000)]).toEqual([4, 0])
    rate.reset(2_000)
    expect(rate.forecast(1_000, 2_500)).toBe(0)
  })
})

describe('SerialExchanges', () => {
  it('run one at a time, are not awaited beyond their bound, and pause after a failure', async () => {
    const late: (() => void)[] = []
    const exchanges = new SerialExchanges(1_000, (_, run) => {
      late.push(run)
      return () => {}
    })
    void exchanges.start(() => new Promise(() => {}), 0)
    expect([exchanges.isInFlight(999), exchanges.isInFlight(1_000), exchanges.isPending]).toEqual([true, false, true])
    const landed = exchanges.wait(500)
    late[0]!()
    await landed
    exchanges.markFailed(2_000)
    expect([exchanges.downMs(2_100), exchanges.downMs(2_250)]).toEqual([150, 0])
  })
})
