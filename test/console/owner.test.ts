// The logic of the owner page that needs no browser.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  filterKeys,
  forecastText,
  isActive,
  keyInput,
  lastUsedLines,
  microOf,
  scaledPrice,
  stateLines,
  usageColumns,
} from '../../src/console/owner/account-view.ts'
import { conditionFields, conditionInput, ruleSentence } from '../../src/console/owner/alert-rule.ts'
import { balancePath, burnDown } from '../../src/console/owner/burn-down.ts'
import { minuteColumns, phaseTone } from '../../src/console/owner/pipeline-state.ts'
import { refusalGroups } from '../../src/console/owner/refusal-groups.ts'
import type { Account, Key, Usage } from '../../src/console/owner/responses.ts'
import * as strings from '../../src/console/owner/strings.ts'
import { KEY_ENDS } from '../../src/console/owner/strings.ts'
import { RequestPacer } from '../../src/console/request-pacer.ts'
import { formatCredits } from '../../src/core/amount.ts'
import { AlertConditionInput } from '../../src/metering/alerts/alert-rule.ts'

const NOW = Date.UTC(2026, 10, 25, 12)
const KEY: Key = {
  hash: 'a1'.repeat(32),
  prefix: 'cqt_9fKxWq2T',
  account: 'acme',
  label: 'bot',
  kind: 'api',
  products: ['info'],
  created: NOW - 1,
  expires: null,
  revoked: null,
  last_used: null,
  cap: null,
  cap_remaining: null,
  spent_30_days: '0',
  ranges: null,
  pipelines: null,
  replaced_by: null,
}

describe('amounts', () => {
  it('are exact, from strings and from JSON numbers, up to eight billion credits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8e15 }), (micro) => {
        expect(microOf(formatCredits(micro))).toBe(BigInt(micro))
        expect(microOf(JSON.parse(JSON.stringify(Number(formatCredits(micro)))))).toBe(BigInt(micro))
      }),
    )
    expect(microOf('-0.13')).toBe(-130_000n)
  })
})

describe('rejected requests', () => {
  it('of one cause are one group with its newest', () => {
    const of = (at: number, message = 'Unsupported type') =>
      ({
        at,
        message,
        code: 'unsupported_type',
        product: 'info',
        prefix: 'cqt_1',
        type: 'x',
        request_id: `r${at}`,
      }) as const
    const groups = refusalGroups([of(3), of(2, 'Invalid coin'), of(4), of(1)])
    expect(groups.map(({ last, count }) => [last.request_id, count])).toEqual([
      ['r4', 3],
      ['r2', 1],
    ])
  })
})

describe('a scaled price', () => {
  it.each([
    ['19.00', 10_000n, 100_000n, '1.90'],
    ['2.00', 1_000n, 1n, '2000.00'],
    ['0.01', 1n, 2n, '0.01'],
    ['0.01', 1n, 3n, '0.00'],
    ['1900', 1n, 7n, '271'],
  ] as const)('of %s × %s / %s is %s', (amount, times, per, text) => {
    expect(scaledPrice(amount, times, per)).toBe(text)
  })
})

describe('the last use of a key', () => {
  it.each([
    [null, '0', 'None recorded'],
    // The credits arrive first.
    [null, '49', 'In the last hour'],
    [NOW, '49', 'Today, 12:00–13:00 UTC'],
    [NOW - 3_600_000, '49', 'Today, 11:00–12:00 UTC'],
    [NOW - 12 * 3_600_000 - 3_600_000, '49', '24 Nov 2026, 23:00–00:00 UTC'],
  ] as const)('in hour %s with %s credits is “%s”', (hourMs, spent, text) => {
    const lines = lastUsedLines({ ...KEY, last_used: hourMs, spent_30_days: spent }, NOW + 59 * 60_000)
    expect(lines.join(', ')).toBe(text)
  })
})

describe('a forecast', () => {
  it.each([
    ['used_up', NOW + 3 * 86_400_000, /28 Nov 2026 \(3 days\)/],
    ['renewed', null, /1\.5 credits/],
    ['far', null, /1\.5 credits/],
    ['unused', null, /./],
    ['spent', NOW, /./],
  ] as const)('%s has a text with the rate or the date', (why, ends, words) => {
    const account = { forecast: { ends, why }, credits_a_day: '1.5', period: null } as Account
    expect(forecastText(account, NOW)).toMatch(words)
  })

  it('does not present the end of the plan as a result of usage', () => {
    const ends = NOW + 3 * 86_400_000
    const period = { since: NOW, until: ends, credits: '25000', renews_with: '0' }
    const account = { forecast: { ends, why: 'used_up' }, period } as Account
    expect(forecastText({ ...account, credits_a_day: '0' }, NOW)).toBe(strings.forecastExpires('28 Nov 2026'))
    expect(forecastText({ ...account, credits_a_day: '7' }, NOW)).toBe(strings.forecastExpiresFirst('7', '28 Nov 2026'))
  })
})

describe('the burn-down chart', () => {
  const SIZE = { width: 600, height: 100 }
  const day = (date: string, opening: string, closing: string, granted = '0') =>
    ({ date, opening, closing, granted, expired: '0', charged: '0', written_off: '0' }) as const
  const account = (balance: string, perDay: string, ends: number | null) => {
    const forecast = { ends, why: ends === null ? 'renewed' : 'used_up' } as const
    return { balance, credits_a_day: perDay, forecast }
  }
  const numbersIn = (path: string) => path.match(/-?\d+(\.\d+)?/g)?.map(Number) ?? []

  it('ends at the current balance, and reaches the time at which credits run out', () => {
    const days = [
      day('2026-11-23', '0', '60', '80'),
      day('2026-11-24', '60', '40'),
      day('2026-11-25', '40', '30', '10'),
    ]
    // Noon of the third day: 2.5 days of history, one of forecast.
    const chart = burnDown(days, account('20', '20', NOW + 86_400_000), NOW)
    expect(chart.steps).toEqual([0, 20, 40, 60, 80].map((credits) => credits * 1_000_000))
    expect(chart.endMs).toBe(NOW + 86_400_000)
    expect(balancePath(chart.history, chart, SIZE)).toBe('M0 0L171.4 25L171.4 25L342.9 50L342.9 37.5L428.6 75')
    expect(balancePath(chart.forecast ?? [], chart, SIZE)).toBe('M428.6 75L600 100L600 100')
    // Credits that expire before they are used fall to zero at that time.
    const far = burnDown(days, account('20', '4', NOW + 2.5 * 86_400_000), NOW)
    expect(far.endMs).toBe(NOW + 2.5 * 86_400_000)
    expect(balancePath(far.forecast ?? [], far, SIZE)).toBe('M300 75L600 87.5L600 100')
    expect(burnDown(days, account('20', '4', null), NOW)).toMatchObject({ forecast: null, endMs: NOW })
  })

  it('stays inside the chart for any numbers', () => {
    const credits = fc.integer({ min: -1e9, max: 8e15 }).map((micro) => {
      const text = formatCredits(Math.abs(micro))
      return micro < 0 ? `-${text}` : text
    })
    const history = fc.array(fc.tuple(credits, credits), { minLength: 1, maxLength: 366 })
    fc.assert(
      fc.property(history, credits, fc.integer({ min: 0, max: 1e11 }), (closings, left, inMs) => {
        const first = Date.UTC(2026, 10, 25) - (closings.length - 1) * 86_400_000
        const days = closings.map(([opening, closing], i) =>
          day(new Date(first + i * 86_400_000).toISOString().slice(0, 10), opening, closing),
        )
        const chart = burnDown(days, account(left, '1', NOW + inMs), NOW)
        const points = [...chart.history, ...(chart.forecast ?? [])]
        for (const [i, at] of numbersIn(balancePath(points, chart, SIZE)).entries()) {
          expect(at).toBeGreaterThanOrEqual(0)
          expect(at).toBeLessThanOrEqual(i % 2 === 0 ? 600 : 100)
        }
      }),
    )
  })
})

describe('keys', () => {
  it('have a state with its time', () => {
    const time = '2026-11-25 12:00:00'
    const lines = (change: Partial<Key>) => stateLines({ ...KEY, ...change }, NOW)
    expect(lines({})).toEqual([strings.keysActive])
    expect(lines({ expires: NOW + 1 })).toEqual([strings.keysActive, strings.keysUntil(time)])
    expect(lines({ expires: NOW + 1, replaced_by: 'b2' })).toEqual([strings.keysReplaced, strings.keysUntil(time)])
    expect(lines({ expires: NOW, replaced_by: 'b2' })).toEqual([KEY_ENDS.replaced, time])
    expect(lines({ revoked: NOW })).toEqual([KEY_ENDS.revoked, time])
    const times = [null, NOW + 1, NOW]
    expect(times.map((expires) => isActive({ ...KEY, expires }, NOW))).toEqual([true, true, false])
    expect(lines({ expires: NOW })).toEqual([KEY_ENDS.expired, time])
  })

  it('are filtered by label, prefix, hash and range, active ones only by default', () => {
    const revoked = { ...KEY, hash: 'c3', label: 'Old', revoked: NOW, ranges: ['192.0.2.0/24'] }
    const keys = [KEY, revoked]
    expect(filterKeys(keys, '', false, NOW)).toEqual([KEY])
    expect(filterKeys(keys, '', true, NOW)).toEqual(keys)
    for (const words of [' BOT ', '9fkx', 'a1a1']) expect(filterKeys(keys, words, true, NOW)).toContain(KEY)
    expect(filterKeys(keys, '192.0.2', true, NOW)).toEqual([revoked])
    expect(filterKeys(keys, '(.*)', true, NOW)).toEqual([])
  })

  it('are created from the typed fields, and edited with the changed fields', () => {
    const typed = {
      label: 'x',
      cap: ' 0.13 ',
      ranges: '192.0.2.0/24, 2001:db8::/32',
      expires: '2026-12-01',
      pipelines: '',
    }
    expect(keyInput(typed, ['info'])).toEqual({
      label: 'x',
      products: ['info'],
      cap: '0.13',
      ranges: ['192.0.2.0/24', '2001:db8::/32'],
      expires: Date.UTC(2026, 11, 1),
    })
    const same = { label: 'bot', cap: '', ranges: '', expires: '', pipelines: '' }
    expect(keyInput(same, ['info'], KEY)).toEqual({})
    const bound = { ...KEY, cap: '5', ranges: ['192.0.2.0/24'], expires: Date.UTC(2026, 11, 1, 13) }
    expect(keyInput(same, ['info'], bound)).toEqual({ cap: null, ranges: null, expires: null })
    expect(keyInput({ ...same, cap: '5', ranges: '192.0.2.0/24', expires: '2026-12-01' }, ['info'], bound)).toEqual({})
  })
})

describe('usage columns', () => {
  const usage = (parts: number): Usage => ({
    period: { from: '2026-11-23', to: '2026-11-25' },
    totals: { calls: 0, stream_minutes: 0, pipeline_rows: 0, credits: '1' },
    by_day: [
      {
        date: '2026-11-24',
        calls: 0,
        stream_minutes: 0,
        pipeline_rows: 0,
        credits: '1',
        parts: [
          { part: '', label: '', credits: '0.5' },
          ...Array.from({ length: parts }, (_, i) => ({
            part: `p${i}`,
            label: i === 0 ? '<b>' : '',
            credits: String(i + 1),
          })),
        ],
      },
    ],
    by_key: [],
    by_type: [],
  })

  it('cover every day, with the most expensive parts', () => {
    const { columns, parts } = usageColumns(usage(9))
    expect(columns.map(({ name }) => name)).toEqual(['2026-11-23', '2026-11-24', '2026-11-25'])
    expect(parts).toEqual(['p8', 'p7', 'p6', 'p5', 'p4', 'p3', 'p2', strings.usageOther])
    expect(columns[1]?.parts).toMatchObject({ p8: 9_000_000, [strings.usageOther]: 3_500_000 })
    expect(usageColumns(usage(1)).parts).toEqual(['<b> (p0)', strings.usageOther])
  })
})

describe('the request pacer', () => {
  it('never exceeds one burst plus the steady rate in any second', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 60 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), (pauses, perSecond) => {
        const pacer = new RequestPacer(perSecond)
        let now = 0
        const begins = pauses.map((pause) => {
          now += pause
          return now + pacer.reserve(now)
        })
        for (const begin of begins)
          expect(begins.filter((each) => each >= begin && each < begin + 1000).length).toBeLessThanOrEqual(
            2 * perSecond,
          )
        expect([...begins].sort((a, b) => a - b)).toEqual(begins)
      }),
    )
    const pacer = new RequestPacer(4)
    expect(Array.from({ length: 7 }, () => pacer.reserve(0))).toEqual([0, 0, 0, 0, 250, 500, 750])
  })
})

describe('a pipeline', () => {
  it('has one column per minute up to now', () => {
    const item = { time: '2026-11-25T11:58:00.000Z', rows: 7, bytes: 1, batches: 1, failures: 2, lag_ms: 30 }
    const columns = minuteColumns([item, { ...item, time: '2026-11-25T10:00:00.000Z' }], 3, NOW + 59_999)
    expect(columns.map(({ name, rows, failures, lagMs }) => [name, rows, failures, lagMs])).toEqual([
      ['11:58', 7, 2, 30],
      ['11:59', 0, 0, null],
      ['12:00', 0, 0, null],
    ])
  })

  it('is shown as in order, waiting or broken', () => {
    const tones = (['live', 'retrying', 'failed', 'unpaid', 'paused', 'unknown'] as const).map(phaseTone)
    expect(tones).toEqual(['fine', 'near', 'high', 'high', '', ''])
  })
})

describe('a rule of an alert', () => {
  const fields = (over: object) => ({ ...conditionFields(), ...over })

  it.each([
    [{}, 'at most 20% of the period’s largest balance is left'],
    [{ threshold: '12500' }, 'at most 12,500 credits are left'],
    [{ threshold: '0' }, 'no credits are left'],
    [{ type: 'credits_end', days: '1' }, 'credits will end within 1 day at the current rate'],
    [{ type: 'errors' }, 'more than 5% of at least 100 calls in 15 minutes fail'],
    [
      { type: 'errors', statuses: '4xx', key: 'a1', calls: '2500' },
      'more than 5% of at least 2,500 calls with the key bot in 15 minutes are rejected (4xx)',
    ],
    [{ type: 'rate_limited', minutes: '5' }, 'at least 100 calls in 5 minutes are rejected with 429'],
    [{ type: 'limit_use', percent: '80' }, 'requests use more than 80% of their limit over 15 minutes'],
  ])('%j reads: %s', (over, words) => {
    expect(ruleSentence(fields(over), ['ops@example.com', 'the webhook'], 'bot')).toBe(
      `Tell ops@example.com and the webhook when ${words}.`,
    )
  })

  it('is sent with the fields of its type, and read back into the same fields', () => {
    for (const type of ['credits_below', 'credits_end', 'errors', 'rate_limited', 'limit_use']) {
      const parsed = AlertConditionInput.parse(conditionInput(fields({ type, calls: '1,000', key: 'a1'.repeat(32) })))
      expect(parsed.type).toBe(type)
      expect(conditionInput(conditionFields(parsed))).toEqual(parsed)
    }
  })

  it('is rejected by the field that is no number', () => {
    const parsed = AlertConditionInput.safeParse(
      JSON.parse(JSON.stringify(conditionInput(fields({ type: 'credits_end', days: 'soon' })))),
    )
    expect(parsed.error?.issues[0]).toMatchObject({ path: ['days'] })
  })
})
