// Laws of alerts: when a rule fires and is resolved, and which calls count.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { balanceMessage, callsMessage } from '../../../src/metering/alerts/alert-event.ts'
import { AlertConditionInput } from '../../../src/metering/alerts/alert-rule.ts'
import {
  nextState,
  QUIET,
  type Reading,
  readBalance,
  readCalls,
  readForecast,
  recheckMs,
  repeatMs,
} from '../../../src/metering/alerts/alert-state.ts'
import {
  type CallMinutes,
  GrantedRequests,
  minutesText,
  NO_MINUTES,
  readMinutes,
  windowSums,
  withCalls,
} from '../../../src/metering/alerts/call-minutes.ts'
import { CallBuffer, LogRoom } from '../../../src/metering/request-log/call-buffer.ts'
import type { LogBatch, LoggedCall } from '../../../src/metering/request-log/log-api.ts'

const NOW = 1_790_000_000_000
const KEYS = ['a1', 'b2', 'c3'].map((name) => keyHashOf(name.repeat(32)))

describe('the state of a rule', () => {
  const anyStep = fc.record({
    afterMs: fc.nat(20 * MINUTE_MS),
    reading: fc.constantFrom<Reading>('met', 'near', 'clear'),
  })

  it('fires once on each crossing or cooldown, and is resolved once, in any sequence', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), fc.integer({ min: 5, max: 60 }), (steps, cooldown) => {
        let state = QUIET
        let nowMs = NOW
        // Independent model: the time of the last alert since the rule was resolved, null: it is not firing.
        let firedMs: number | null = null
        for (const { afterMs, reading } of steps) {
          nowMs += afterMs
          const next = nextState(state, reading, cooldown, nowMs)
          const fires = reading === 'met' && (firedMs === null || nowMs - firedMs >= cooldown * MINUTE_MS)
          const resolves = reading === 'clear' && firedMs !== null
          expect(next.type).toBe(fires ? 'alert.fired' : resolves ? 'alert.resolved' : null)
          if (next.type === null) expect(next.state).toBe(state)
          expect(nextState(state, reading, cooldown, nowMs)).toEqual(next)
          if (fires) firedMs = nowMs
          if (resolves) firedMs = null
          state = next.state
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('is not repeated while the clock is set back', () => {
    const fired = nextState(QUIET, 'met', 5, NOW).state
    expect(nextState(fired, 'met', 5, NOW - HOUR_MS).type).toBe(null)
    expect(nextState(fired, 'met', 5, NOW + 5 * MINUTE_MS).type).toBe('alert.fired')
  })
})

describe('a firing alert between its two limits', () => {
  it('is checked once a minute after its cooldown, so that no alarm fires in a loop', () => {
    const { state } = nextState(QUIET, 'met', 5, NOW)
    const checks: number[] = []
    for (let checkedMs = NOW; checks.length < 4; ) {
      checkedMs = recheckMs(checkedMs, repeatMs(state, 5))
      expect(nextState(state, 'near', 5, checkedMs)).toEqual({ state, type: null })
      checks.push((checkedMs - NOW) / MINUTE_MS)
    }
    expect(checks).toEqual([5, 6, 7, 8])
  })
})

describe('readings', () => {
  const errors = { type: 'errors', statuses: '5xx', percent: 5, calls: 100, minutes: 15, key: null } as const
  const sums = (calls: number, failed: number, more: object = {}) => {
    return { calls, failed, refused: 0, limited: 0, use: 0, ...more }
  }

  it.each([
    [200, 11, 'met'],
    [200, 10, 'near'],
    [200, 8, 'clear'],
    [99, 99, 'near'],
    [49, 49, 'clear'],
    [0, 0, 'clear'],
  ] as const)('of %i calls with %i errors: %s', (calls, failed, reading) => {
    expect(readCalls(errors, sums(calls, failed))).toBe(reading)
  })

  it('count the statuses that the rule names', () => {
    const both = sums(100, 3, { refused: 4 })
    expect(readCalls(errors, both)).toBe('clear')
    expect(readCalls({ ...errors, statuses: '4xx' }, both)).toBe('clear')
    expect(readCalls({ ...errors, statuses: 'any' }, both)).toBe('met')
  })

  it('of rejected calls and of the use of a limit have a margin', () => {
    const limited = { type: 'rate_limited', calls: 10, minutes: 5, key: null } as const
    const use = { type: 'limit_use', percent: 80, minutes: 5, key: null } as const
    expect([10, 9, 5, 4].map((count) => readCalls(limited, sums(99, 0, { limited: count })))).toEqual([
      'met',
      'near',
      'near',
      'clear',
    ])
    expect([801, 800, 641, 640].map((each) => readCalls(use, sums(99, 0, { use: each })))).toEqual([
      'met',
      'near',
      'near',
      'clear',
    ])
  })

  it('of a balance can always become clear at the highest balance of the period, and never are met above the level', () => {
    const micro = fc.integer({ min: 1, max: 10 ** 12 })
    fc.assert(
      fc.property(micro, fc.integer({ min: 1, max: 99 }), micro, (most, percent, other) => {
        const level = Math.floor((most * percent) / 100)
        expect(readBalance(most, level, most)).toBe('clear')
        expect(readBalance(Math.min(level, other), level, most)).toBe('met')
        expect(readBalance(level + 1, level, most)).not.toBe('met')
      }),
    )
    expect(readBalance(0, 1_000, 0)).toBe('clear')
  })

  it('of a forecast have a margin of a quarter', () => {
    const days = (count: number) => NOW + count * 24 * HOUR_MS
    expect([7, 7.1, 8.7, 8.8, Number.POSITIVE_INFINITY].map((each) => readForecast(days(each), 7, NOW))).toEqual([
      'met',
      'near',
      'near',
      'clear',
      'clear',
    ])
  })
})

const call = (atMs: number, keyHash = KEYS[0]!, status = 200): LoggedCall => ({
  keyHash,
  atMs,
  product: 'info',
  type: 'l2Book',
  status,
  code: status === 200 ? '' : 'some_error',
  ms: 3,
  micro: 0,
  requestId: '',
})

describe('the calls of an hour', () => {
  const anyCall = fc.record({
    afterMs: fc.nat(90_000),
    key: fc.nat(2),
    status: fc.constantFrom(200, 400, 429, 500, 503),
  })
  /** The fate of a report: it arrives, or it or its answer is lost. */
  const anyFate = fc.constantFrom('kept', 'kept', 'lost', 'answer lost')

  it('are counted once by minute and status, however reports are lost, in all and for each key of a rule', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(anyCall, { maxLength: 20 }), anyFate), { maxLength: 20 }), (rounds) => {
        const buffer = new CallBuffer('source', new LogRoom(5))
        const made: LoggedCall[] = []
        let nowMs = NOW
        let minutes = NO_MINUTES
        const report = (fate: string) => {
          const batch = buffer.next(nowMs)
          if (batch === null) return
          if (fate !== 'lost')
            minutes = readMinutes(minutesText(withCalls(minutes, structuredClone(batch), [], [KEYS[1]!], nowMs)))
          if (fate === 'kept') buffer.acknowledge(batch)
        }
        for (const [calls, fate] of rounds) {
          for (const { afterMs, key, status } of calls) {
            nowMs += afterMs % 5_000
            const one = call(nowMs, KEYS[key], status)
            buffer.add(one)
            made.push(one)
          }
          report(fate)
        }
        // The batch in flight, and then the rest.
        report('kept')
        report('kept')
        for (const window of [5, 15, 60] as const)
          for (const key of ['', KEYS[1]!]) {
            const sinceMinute = Math.floor(nowMs / MINUTE_MS) - window
            const own = made.filter((one) => Math.floor(one.atMs / MINUTE_MS) > sinceMinute)
            const counted = own.filter(({ keyHash }) => key === '' || key === keyHash)
            const count = (isCounted: (status: number) => boolean) =>
              counted.filter(({ status }) => isCounted(status)).length
            expect(windowSums(minutes, key, window, nowMs)).toEqual({
              calls: counted.length,
              refused: count((status) => status >= 400 && status < 500),
              failed: count((status) => status >= 500),
              limited: count((status) => status === 429),
              use: 0,
            })
          }
        expect(new Set(minutes.rows.map(([, key]) => key)).size).toBeLessThanOrEqual(2)
      }),
      { numRuns: 300 },
    )
  })

  it('take bounded space, whatever sources report', () => {
    let minutes: CallMinutes = NO_MINUTES
    const keys = KEYS.slice(0, 2)
    for (let i = 0; i < 500; i++) {
      const nowMs = NOW + i * MINUTE_MS
      const counts = [-5, 0, 90].map((off) => {
        const minute = Math.floor(nowMs / MINUTE_MS) + off
        return { keyHash: KEYS[i % 3]!, minute, calls: 9_999_999, refused: 99_999, failed: 99_999, limited: 99_999 }
      })
      minutes = withCalls(minutes, { source: `source ${i}`, number: 1, calls: 1, rows: [], counts }, [], keys, nowMs)
    }
    expect(minutes.rows.length).toBeLessThanOrEqual(60 * 3)
    expect(minutesText(minutes).length).toBeLessThan(32 * 1024)
  })

  it('are those of other versions too, which report no counts', () => {
    const old: LogBatch = { source: 's', number: 1, calls: 3, rows: [call(NOW)] }
    expect(withCalls(NO_MINUTES, old, [], [], NOW).rows).toEqual([])
  })

  it('have the use of the fullest limit in each minute', () => {
    const granted = new GrantedRequests()
    for (let i = 0; i < 30; i++) granted.add(KEYS[0]!, 'info', 2, 2, NOW)
    for (let i = 0; i < 30; i++) granted.add(KEYS[1]!, 'info', 10, 10, NOW)
    granted.add(KEYS[1]!, 'rest', 10, 600, NOW + 1)
    const batch = { source: 's', number: 1, calls: 0, rows: [], counts: [] }
    const minutes = withCalls(NO_MINUTES, batch, granted.uses(NOW), [KEYS[0]!], NOW)
    expect(windowSums(minutes, '', 5, NOW).use).toBe(200)
    expect(windowSums(minutes, KEYS[0]!, 5, NOW).use).toBe(100)
    expect(granted.uses(NOW + 2 * MINUTE_MS)).toEqual([])
  })
})

describe('a condition in a request', () => {
  it.each([
    [{ type: 'credits_below', threshold: '120%' }, ['threshold']],
    [{ type: 'credits_end', days: 0 }, ['days']],
    [{ type: 'errors', statuses: '5xx', percent: 5, calls: 100, minutes: 7 }, ['minutes']],
    [{ type: 'errors', statuses: '5xx', percent: 100, calls: 100, minutes: 5 }, ['percent']],
    [{ type: 'rate_limited', calls: 1, minutes: 5, key: 'cqt_secret' }, ['key']],
    [{ type: 'limit_use', percent: 80, minutes: 5, calls: 3 }, []],
    [{ type: 'other' }, ['type']],
  ])('%j is refused', (condition, path) => {
    expect(AlertConditionInput.safeParse(condition).error?.issues[0]).toMatchObject({ path })
  })
})

describe('messages', () => {
  it('say what was measured', () => {
    const sums = { calls: 1_500, refused: 20, failed: 100, limited: 7, use: 913 }
    const window = { minutes: 15, key: KEYS[0]! } as const
    expect(
      [
        { type: 'errors', statuses: 'any', percent: 5, calls: 100, ...window } as const,
        { type: 'rate_limited', calls: 5, ...window, key: null } as const,
        { type: 'limit_use', percent: 90, ...window, key: null } as const,
      ].map((condition) => callsMessage(condition, sums)),
    ).toEqual([
      '120 of 1,500 calls of the key a1a1a1a1a1a1… in 15 minutes had status 4xx or 5xx (8.0%).',
      '7 calls in 15 minutes were rejected with 429.',
      'Requests in 15 minutes used 91.3% of their limit on average.',
    ])
    expect(balanceMessage(1_999_870_000, '20%')).toBe('1,999 credits are left; the alert is set to 20%.')
  })
})
