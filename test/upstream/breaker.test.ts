import { describe, expect, it } from 'vitest'
import { Breaker } from '../../src/upstream/breaker.ts'

function opened(now: number): Breaker {
  const breaker = new Breaker()
  for (let i = 0; i < 5; i++) breaker.recordFailure(now, null, true)
  return breaker
}

describe('Breaker', () => {
  it('lets requests pass until the fifth failure in a row', () => {
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

  it('lets one probe through after the pause, and closes when it succeeds', () => {
    const breaker = opened(0)
    expect(breaker.tryPass(999)).toBe(false)
    expect(breaker.tryPass(1_000)).toBe(true)
    expect(breaker.tryPass(1_000)).toBe(false)
    breaker.recordSuccess()
    expect(breaker.tryPass(1_000)).toBe(true)
    expect(breaker.tryPass(1_000)).toBe(true)
  })

  it('doubles the pause after a failed probe, up to 30 s', () => {
    const breaker = opened(0)
    let now = 1_000
    for (const pause of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      expect(breaker.tryPass(now)).toBe(true)
      breaker.recordFailure(now, null, true)
      expect(breaker.waitMs(now)).toBe(pause)
      now += pause
    }
  })

  it('counts concurrent failures once: requests sent before the pause say nothing about the source after it', () => {
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

  it('replaces a lost probe after 10 s, and an undecided one immediately', () => {
    const breaker = opened(0)
    expect(breaker.tryPass(1_000)).toBe(true)
    expect(breaker.tryPass(10_999)).toBe(false)
    expect(breaker.tryPass(11_000)).toBe(true)
    breaker.abandonJudgment()
    expect(breaker.tryPass(11_000)).toBe(true)
  })

  it('is not kept open by a clock that was set back', () => {
    const hour = 3_600_000
    const breaker = opened(hour)
    breaker.rest(hour + 60_000)
    expect(breaker.waitMs(hour)).toBe(60_000)
    expect(breaker.waitMs(hour - 60_000)).toBe(0)
    expect(breaker.tryPass(0)).toBe(true)
    expect(breaker.tryPass(0)).toBe(false)
  })

  it('is suspect if requests may be at fault: distinct ones count, and one caller must judge', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 50; i++) breaker.recordFailure(0, 'same')
    expect(breaker.tryClaimJudgment(0)).toBe(false)
    for (const request of ['a', 'b', 'c', 'd']) breaker.recordFailure(0, request)
    expect([breaker.tryPass(0), breaker.tryClaimJudgment(0), breaker.tryClaimJudgment(0)]).toEqual([true, true, false])
    // The judging caller may vanish.
    expect(breaker.tryClaimJudgment(10_000)).toBe(true)
    breaker.open(10_000)
    expect(breaker.waitMs(10_000)).toBe(1_000)
  })

  it('is not opened by a judgment that a success has overtaken', () => {
    const breaker = new Breaker()
    for (let i = 0; i < 5; i++) breaker.recordFailure(0, null)
    expect(breaker.tryClaimJudgment(0)).toBe(true)
    breaker.recordSuccess()
    breaker.open(0)
    expect(breaker.tryPass(0)).toBe(true)
  })

  it('does not extend a pause for a probe that may itself be wrong', () => {
    const breaker = opened(0)
    expect(breaker.tryPass(1_000)).toBe(true)
    breaker.recordFailure(1_000, 'wrong')
    expect([breaker.tryPass(1_000), breaker.tryClaimJudgment(1_000)]).toEqual([false, true])
    breaker.recordSuccess()
    expect(breaker.tryPass(1_000)).toBe(true)
  })
})
