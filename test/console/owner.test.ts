// The logic of the owner page that needs no browser.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  filterKeys,
  forecastText,
  keyInput,
  microOf,
  stateText,
  usageColumns,
} from '../../src/console/owner/account-view.ts'
import { type BurnDown, burnDown } from '../../src/console/owner/burn-down.ts'
import type { Account, Key, Usage } from '../../src/console/owner/responses.ts'
import * as strings from '../../src/console/owner/strings.ts'
import { KEY_ENDS } from '../../src/console/owner/strings.ts'
import { RequestPacer } from '../../src/console/request-pacer.ts'
import { formatCredits } from '../../src/core/amount.ts'

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

describe('a forecast', () => {
  it.each([
    ['used_up', NOW + 3 * 86_400_000, /28 Nov 2026 \(3 days\)/],
    ['renewed', null, /1\.5 credits/],
    ['far', null, /1\.5 credits/],
    ['unused', null, /./],
    ['spent', NOW, /./],
  ] as const)('%s has a text with the rate or the date', (why, ends, words) => {
    const account = { forecast: { ends, why }, credits_a_day: '1.5' } as Account
    expect(forecastText(account, NOW)).toMatch(words)
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
  const pointsOf = (path: BurnDown['history'] | null) => (path ?? '').match(/-?\d+(\.\d+)?/g)?.map(Number) ?? []

  it('ends at the current balance, and forecasts when credits run out', () => {
    const days = [
      day('2026-11-23', '0', '60', '80'),
      day('2026-11-24', '60', '40'),
      day('2026-11-25', '40', '30', '10'),
    ]
    // Noon of the third day: 2.5 days of history, one of forecast.
    expect(burnDown(days, account('20', '20', NOW + 86_400_000), NOW, SIZE)).toEqual({
      history: 'M0 0L171.4 25L171.4 25L342.9 50L342.9 37.5L428.6 75',
      forecast: 'M428.6 75L600 100',
      nowX: 428.6,
      endMs: NOW + 86_400_000,
      maxMicro: 80_000_000,
    })
    // A longer forecast is cut at the edge of the chart.
    const far = burnDown(days, account('20', '4', NOW + 5 * 86_400_000), NOW, SIZE)
    expect([far.forecast, far.endMs]).toEqual(['M300 75L600 87.5', NOW + 2.5 * 86_400_000])
    expect(burnDown(days, account('20', '4', null), NOW, SIZE)).toMatchObject({ forecast: null, nowX: 600, endMs: NOW })
  })

  it('stays inside the chart for any numbers', () => {
    const credits = fc.integer({ min: -1e9, max: 8e15 }).map((micro) => {
      const text = formatCredits(Math.abs(micro))
      return micro < 0 ? `-${text}` : text
    })
    const history = fc.array(fc.tuple(credits, credits), { minLength: 1, maxLength: 366 })
    fc.assert(
      fc.property(history, credits, fc.integer({ min: 0, max: 1e6 }), (closings, left, inMs) => {
        const first = Date.UTC(2026, 10, 25) - (closings.length - 1) * 86_400_000
        const days = closings.map(([opening, closing], i) =>
          day(new Date(first + i * 86_400_000).toISOString().slice(0, 10), opening, closing),
        )
        const { history, forecast } = burnDown(days, account(left, '1', NOW + inMs), NOW, SIZE)
        for (const [i, at] of [...pointsOf(history), ...pointsOf(forecast)].entries()) {
          expect(at).toBeGreaterThanOrEqual(0)
          expect(at).toBeLessThanOrEqual(i % 2 === 0 ? 600 : 100)
        }
      }),
    )
  })
})

describe('keys', () => {
  it('have a state with its time', () => {
    expect(stateText(KEY, NOW)).toBe(strings.keysActive)
    expect(stateText({ ...KEY, expires: NOW + 1 }, NOW)).toBe(strings.keysActiveUntil('2026-11-25 12:00:00'))
    expect(stateText({ ...KEY, expires: NOW, replaced_by: 'b2' }, NOW)).toBe(KEY_ENDS.replaced('2026-11-25 12:00:00'))
    expect(stateText({ ...KEY, revoked: NOW }, NOW)).toBe(KEY_ENDS.revoked('2026-11-25 12:00:00'))
    expect(stateText({ ...KEY, expires: NOW }, NOW)).toBe(KEY_ENDS.expired('2026-11-25 12:00:00'))
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
