import { describe, expect, it } from 'vitest'
import { Breaker } from '../../src/upstream/breaker.ts'

function opened(now: number): Breaker {
  const breaker = new Breaker()
  for (let i = 0; i < 5; i++) breaker.recordFailure(now, null, true)
  return breaker
}

describe('Breaker', () => {
  it('passes until the fifth failure in a row', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 4; i++) breaker.recordFailure(0, null, true)
    expect(breaker.tryPass(0)).toBe(true)
    breaker.recordSuccess()
    for (let i = 0; i < 4; i++) breaker.recordFailure(0, null, true)
    expect(breaker.tryPass(0)).toBe(true)
    breaker.recordFailure(0, null, true)
    expect(breaker.tryPass(0)).toBe(false)
    expect(breaker.waitMs(0)).toBe(1_000)
  })

  it('lets one probe through after the pause, and closes with its success', () => {
    const breaker = opened(0)
    expect(breaker.tryPass(999)).toBe(false)
    expect(breaker.tryPass(1_000)).toBe(true)
    expect(breaker.tryPass(1_000)).toBe(false)
    breaker.recordSuccess()
    expect(breaker.tryPass(1_000)).toBe(true)
    expect(breaker.tryPass(1_000)).toBe(true)
  })

  it('pauses twice as long after a failed probe, up to 30 s', () => {
    const breaker = opened(0)
    let now = 1_000
    for (const pause of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      expect(breaker.tryPass(now)).toBe(true)
      breaker.recordFailure(now, null, true)
      expect(breaker.waitMs(now)).toBe(pause)
      now += pause
    }
  })

  it('counts a run that fails at once as one: what was sent before the pause says nothing of the source after it', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 50; i++) breaker.recordFailure(0, null, true)
    expect(breaker.waitMs(0)).toBe(1_000)
    breaker.recordFailure(900, null, true)
    breaker.abandonJudgment()
    expect(breaker.waitMs(900)).toBe(100)
    breaker.recordFailure(1_500, null, true)
    expect(breaker.tryPass(1_500)).toBe(true)
    breaker.recordFailure(1_500, null, true)
    expect(breaker.waitMs(1_500)).toBe(2_000)
  })

  it('gives a lost probe up after 10 s, and one that decided nothing at once', () => {
    const breaker = opened(0)
    expect(breaker.tryPass(1_000)).toBe(true)
    expect(breaker.tryPass(10_999)).toBe(false)
    expect(breaker.tryPass(11_000)).toBe(true)
    breaker.abandonJudgment()
    expect(breaker.tryPass(11_000)).toBe(true)
  })

  it('is not held shut by a clock that was set back', () => {
    const hour = 3_600_000
    const breaker = opened(hour)
    breaker.rest(hour + 60_000)
    expect(breaker.waitMs(hour)).toBe(60_000)
    expect(breaker.waitMs(hour - 60_000)).toBe(0)
    expect(breaker.tryPass(0)).toBe(true)
    expect(breaker.tryPass(0)).toBe(false)
  })

  it('is suspect where requests may be what failed: distinct ones count, and one caller is told to judge', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 50; i++) breaker.recordFailure(0, 'same')
    expect(breaker.tryClaimJudgment(0)).toBe(false)
    for (const request of ['a', 'b', 'c', 'd']) breaker.recordFailure(0, request)
    expect([breaker.tryPass(0), breaker.tryClaimJudgment(0), breaker.tryClaimJudgment(0)]).toEqual([true, true, false])
    // Whoever judges may vanish.
    expect(breaker.tryClaimJudgment(10_000)).toBe(true)
    breaker.open(10_000)
    expect(breaker.waitMs(10_000)).toBe(1_000)
  })

  it('is not opened by a judgement that an answer has overtaken', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 5; i++) breaker.recordFailure(0, null)
    expect(breaker.tryClaimJudgment(0)).toBe(true)
    breaker.recordSuccess()
    breaker.open(0)
    expect(breaker.tryPass(0)).toBe(true)
  })

  it('has no longer pause because of a probe that may itself be wrong', () => {
    const breaker = opened(0)
    expect(breaker.tryPass(1_000)).toBe(true)
    breaker.recordFailure(1_000, 'wrong')
    expect([breaker.tryPass(1_000), breaker.tryClaimJudgment(1_000)]).toEqual([false, true])
    breaker.recordSuccess()
    expect(breaker.tryPass(1_000)).toBe(true)
  })
})
