import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fullBucket, takeTokens } from '../../src/core/token-bucket.ts'
import { RequestBuckets } from '../../src/credit/request-buckets.ts'
import { RequestPurse, TOKENS_TTL_MS } from '../../src/credit/request-purse.ts'

const steps = fc.array(fc.record({ wait: fc.integer({ min: -50, max: 900 }), most: fc.nat(40) }), { maxLength: 200 })
const rates = fc.integer({ min: 1, max: 100 })

describe('a token bucket', () => {
  it('gives at most rate × (t + 1) in any window, also when the clock steps back', () => {
    fc.assert(
      fc.property(rates, steps, (perSecond, path) => {
        let now = 1_000_000
        let top = now
        let bucket = fullBucket(perSecond, now)
        const given: { at: number; taken: number }[] = []
        for (const { wait, most } of path) {
          now += wait
          top = Math.max(top, now)
          const answer = takeTokens(bucket, perSecond, most, now)
          bucket = answer.bucket
          given.push({ at: top, taken: answer.taken })
          for (let from = 0, sum = 0; from < given.length; from++, sum = 0) {
            for (const { taken } of given.slice(from)) sum += taken
            expect(sum).toBeLessThanOrEqual((perSecond * (top - given[from]!.at)) / 1000 + perSecond + 1e-6)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('says exactly when the next token is there', () => {
    fc.assert(
      fc.property(rates, fc.nat(1000), (perSecond, at) => {
        const empty = takeTokens(fullBucket(perSecond, 0), perSecond, perSecond, 0).bucket
        const { bucket, taken, waitMs } = takeTokens(empty, perSecond, 1, at)
        if (taken === 1 || waitMs === 0) return
        expect(takeTokens(bucket, perSecond, 1, at + waitMs).taken).toBe(1)
        expect(takeTokens(bucket, perSecond, 1, at + waitMs - 1).taken).toBe(0)
      }),
      // A rate of 1 at 283 ms once waited a millisecond too long.
      { numRuns: 5_000, examples: [[1, 283]] },
    )
  })
})

describe('requests leased by many isolates', () => {
  it('stay within the rate, whatever answers are lost, and idle ones keep nothing beyond two and a half seconds', () => {
    const isolateStep = fc.record({
      isolate: fc.nat(4),
      wait: fc.nat(200),
      calls: fc.nat(30),
      lost: fc.boolean(),
    })
    fc.assert(
      fc.property(rates, fc.array(isolateStep, { maxLength: 200 }), (perSecond, path) => {
        let now = 5_000
        const meter = new RequestBuckets()
        const isolates = Array.from({ length: 5 }, () => new RequestPurse('info', perSecond))
        let served = 0
        const began = now
        for (const { isolate, wait, calls, lost } of path) {
          now += wait
          const tokens = isolates[isolate]!
          for (let call = 0; call < calls; call++) {
            let verdict = tokens.take(now)
            if (verdict === 'ask') {
              const ask = tokens.ask(calls - call, now)!
              const answer = meter.take('k', ask, now)
              if (lost) break
              tokens.answered(ask, answer, now, now)
              verdict = tokens.take(now)
            }
            if (verdict === 'go') served++
            else if (verdict !== 'ask') expect(verdict.waitMs).toBeGreaterThan(0)
          }
          expect(served).toBeLessThanOrEqual((perSecond * (now - began)) / 1000 + perSecond + 1e-6)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('are lost when they are not used in time', () => {
    const tokens = new RequestPurse('info', 100)
    const ask = tokens.ask(1, 0)!
    tokens.answered(ask, { granted: 10, waitMs: 0, remaining: 90 }, 0, 0)
    expect(tokens.take(TOKENS_TTL_MS - 1)).toBe('go')
    expect(tokens.take(TOKENS_TTL_MS)).toBe('ask')
  })

  it('are asked for one by one at four a second', () => {
    const meter = new RequestBuckets()
    const tokens = new RequestPurse('rest', 4)
    let asked = 0
    let served = 0
    for (let now = 0; now < 10_000; now += 50) {
      let verdict = tokens.take(now)
      if (verdict === 'ask') {
        asked++
        const ask = tokens.ask(1, now)!
        tokens.answered(ask, meter.take('k', ask, now), now, now)
        verdict = tokens.take(now)
      }
      if (verdict === 'go') served++
    }
    expect(served).toBe(43)
    expect(asked).toBeLessThanOrEqual(served + 10)
  })

  it('tell what is left in the words of the draft', () => {
    const tokens = new RequestPurse('info', 10)
    expect(tokens.headers(0)).toEqual({ ratelimit: '"info";r=10;t=0', 'ratelimit-policy': '"info";q=10;w=1' })
    const ask = tokens.ask(1, 0)!
    tokens.answered(ask, { granted: 2, waitMs: 0, remaining: 3 }, 0, 0)
    expect(tokens.headers(0).ratelimit).toBe('"info";r=5;t=1')
    expect(tokens.headers(1_000).ratelimit).toBe('"info";r=10;t=0')
  })
})

it('a clock that steps back takes nothing, and what is left makes nobody wait', () => {
  const full = fullBucket(5, 1_000)
  expect(takeTokens(full, 5, 4, 500)).toEqual({ bucket: { milliTokens: 1_000, atMs: 1_000 }, taken: 4, waitMs: 0 })
  expect(takeTokens(full, 5, 1, 1_000).waitMs).toBe(0)
})
