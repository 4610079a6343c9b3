import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { borrowTokens, fullBucket, oneSecondBurst, takeTokens } from '../../src/core/token-bucket.ts'
import { RequestBuckets } from '../../src/metering/request-buckets.ts'
import { FEW_TTL_MS, RequestLease, TOKENS_TTL_MS } from '../../src/metering/request-lease.ts'

const steps = fc.array(fc.record({ wait: fc.integer({ min: -50, max: 900 }), most: fc.nat(40) }), { maxLength: 200 })
const rates = fc.integer({ min: 1, max: 100 })
const bursts = fc.integer({ min: 1, max: 1_000 })

describe('token bucket', () => {
  it('yields at most rate × t plus burst in any window, even when the clock steps back', () => {
    fc.assert(
      fc.property(rates, bursts, steps, (perSecond, burst, path) => {
        const rate = { perSecond, burst }
        let now = 1_000_000
        let top = now
        let bucket = fullBucket(rate, now)
        const given: { at: number; taken: number }[] = []
        for (const { wait, most } of path) {
          now += wait
          top = Math.max(top, now)
          const answer = takeTokens(bucket, rate, most, now)
          bucket = answer.bucket
          given.push({ at: top, taken: answer.taken })
          for (let from = 0, sum = 0; from < given.length; from++, sum = 0) {
            for (const { taken } of given.slice(from)) sum += taken
            expect(sum).toBeLessThanOrEqual((perSecond * (top - given[from]!.at)) / 1000 + burst + 1e-6)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('reports exactly when the next token is available', () => {
    fc.assert(
      fc.property(rates, fc.nat(1000), (perSecond, at) => {
        const rate = oneSecondBurst(perSecond)
        const empty = takeTokens(fullBucket(rate, 0), rate, perSecond, 0).bucket
        const { bucket, taken, waitMs } = takeTokens(empty, rate, 1, at)
        if (taken === 1 || waitMs === 0) return
        expect(takeTokens(bucket, rate, 1, at + waitMs).taken).toBe(1)
        expect(takeTokens(bucket, rate, 1, at + waitMs - 1).taken).toBe(0)
      }),
      // A rate of 1 at 283 ms once waited one millisecond too long.
      { numRuns: 5_000, examples: [[1, 283]] },
    )
  })
})

describe('borrowing', () => {
  const rate = { perSecond: 1_000, burst: 100 }

  it('reports when the debt is repaid', () => {
    const spent = borrowTokens(fullBucket(rate, 0), rate, 100, 0)
    expect(spent.waitMs).toBe(0)
    const lent = borrowTokens(spent.bucket, rate, 50, 0)
    expect(lent.waitMs).toBe(50)
    expect(takeTokens(lent.bucket, rate, 1, 50)).toMatchObject({ taken: 0, waitMs: 1 })
    expect(takeTokens(lent.bucket, rate, 1, 51).taken).toBe(1)
  })
})

it('restarts counting when the clock is set back for good', () => {
  const rate = oneSecondBurst(10)
  const { bucket } = takeTokens(fullBucket(rate, 1_000_000), rate, 10, 1_000_000)
  expect(takeTokens(bucket, rate, 1, 940_000).bucket.atMs).toBe(1_000_000)
  const after = takeTokens(bucket, rate, 1, 900_000)
  expect(after).toMatchObject({ taken: 0, waitMs: 100 })
  expect(takeTokens(after.bucket, rate, 10, 901_000).taken).toBe(10)
})

describe('requests leased by many isolates', () => {
  it('stay within the rate, whatever responses are lost', () => {
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
        const isolates = Array.from({ length: 5 }, () => new RequestLease('info', perSecond))
        let served = 0
        const began = now
        for (const { isolate, wait, calls, lost } of path) {
          now += wait
          const tokens = isolates[isolate]!
          for (let call = 0; call < calls; call++) {
            let verdict = tokens.take(now)
            if (verdict === 'ask') {
              const ask = tokens.request(calls - call, now)!
              const answer = meter.take(keyHashOf('k'), ask, now)
              if (lost) break
              tokens.applyResponse(ask, answer, now, now)
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

  it("expire unused, except for a 64th of a second's, which lasts longer", () => {
    const tokens = new RequestLease('info', 100)
    const ask = tokens.request(1, 0)!
    tokens.applyResponse(ask, { granted: 10, waitMs: 0, remaining: 90 }, 0, 0)
    expect(tokens.take(TOKENS_TTL_MS - 1)).toBe('go')
    expect([tokens.take(TOKENS_TTL_MS), tokens.take(TOKENS_TTL_MS)]).toEqual(['go', 'ask'])
    const more = tokens.request(1, 10_000)!
    tokens.applyResponse(more, { granted: 10, waitMs: 0, remaining: 90 }, 10_000, 10_000)
    expect(tokens.take(10_000 + FEW_TTL_MS)).toBe('ask')
    const small = new RequestLease('rest', 50)
    small.applyResponse(small.request(1, 0)!, { granted: 5, waitMs: 0, remaining: 45 }, 0, 0)
    expect(small.take(TOKENS_TTL_MS)).toBe('ask')
  })

  it('refuse no call whose clock is older than the response', () => {
    const tokens = new RequestLease('info', 100)
    tokens.applyResponse(tokens.request(1, 0)!, { granted: 1, waitMs: 0, remaining: 99 }, 0, 300)
    expect([tokens.take(200), tokens.take(200)]).toEqual(['go', 'ask'])
  })

  it('are fetched one by one at four per second', () => {
    const meter = new RequestBuckets()
    const tokens = new RequestLease('rest', 4)
    let asked = 0
    let served = 0
    for (let now = 0; now < 10_000; now += 50) {
      let verdict = tokens.take(now)
      if (verdict === 'ask') {
        asked++
        const ask = tokens.request(1, now)!
        tokens.applyResponse(ask, meter.take(keyHashOf('k'), ask, now), now, now)
        verdict = tokens.take(now)
      }
      if (verdict === 'go') served++
    }
    expect(served).toBe(43)
    expect(asked).toBeLessThanOrEqual(served + 10)
  })

  it("report the rest in the draft's headers", () => {
    const tokens = new RequestLease('info', 10)
    expect(tokens.headers(0)).toEqual({ ratelimit: '"info";r=10;t=0', 'ratelimit-policy': '"info";q=10;w=1' })
    const ask = tokens.request(1, 0)!
    tokens.applyResponse(ask, { granted: 2, waitMs: 0, remaining: 3 }, 0, 0)
    expect(tokens.headers(0)?.ratelimit).toBe('"info";r=5;t=1')
    expect(tokens.headers(1_000)?.ratelimit).toBe('"info";r=10;t=0')
  })
})
