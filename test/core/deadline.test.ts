import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type After, orFallback, orReject } from '../../src/core/deadline.ts'
import { after as realAfter } from '../../src/core/timers.client.ts'

const never = new Promise<string>(() => {})
const soon = <T>(end: () => T) => new Promise<void>((resolve) => setTimeout(resolve, 99)).then(end)
const broken = () => {
  throw new Error('broken')
}

/** Timers of these tests only; other tests in the process may have their own. */
const timers = new Set<object>()
const after: After = (ms, run) => {
  const timer = {}
  timers.add(timer)
  const cancel = realAfter(ms, () => {
    timers.delete(timer)
    run()
  })
  return () => {
    timers.delete(timer)
    cancel()
  }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  // No timer stays behind, whichever side won.
  expect(timers.size).toBe(0)
  vi.useRealTimers()
})

describe('orFallback', () => {
  it('returns a timely result, or the fallback', async () => {
    const both = Promise.all([
      orFallback(
        soon(() => 'here'),
        100,
        'late',
        after,
      ),
      orFallback(never, 100, 'late', after),
    ])
    await vi.advanceTimersByTimeAsync(99)
    expect(timers.size).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await both).toEqual(['here', 'late'])
  })

  it('rejects if the work rejects in time, and ignores a later rejection', async () => {
    const inTime = expect(orFallback(soon(broken), 100, 'late', after)).rejects.toThrow('broken')
    const late = orFallback(soon(broken), 50, 'late', after)
    await vi.advanceTimersByTimeAsync(100)
    await inTime
    expect(await late).toBe('late')
  })
})

describe('orReject', () => {
  it('returns a timely result, and rejects a late one', async () => {
    const inTime = orReject(
      soon(() => 'here'),
      100,
      after,
    )
    const late = expect(orReject(never, 100, after)).rejects.toThrow('no answer within 100 ms')
    const failed = expect(orReject(soon(broken), 100, after)).rejects.toThrow('broken')
    await vi.advanceTimersByTimeAsync(100)
    await Promise.all([late, failed])
    expect(await inTime).toBe('here')
  })
})
