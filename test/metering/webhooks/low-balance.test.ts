import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../../src/core/backoff.ts'
import {
  DEFAULT_THRESHOLDS,
  levelOf,
  parseThreshold,
  startWatch,
  type Threshold,
  watchBalance,
} from '../../../src/metering/webhooks/low-balance.ts'
import { GIVE_UP_MS, lowBalanceBody, RETRY, Thresholds, WebhookUrl } from '../../../src/metering/webhooks/webhook.ts'

const CREDIT = 1_000_000
const threshold = (name: string): Threshold => {
  const parsed = parseThreshold(name)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

describe('threshold', () => {
  it.each([
    ['20%', 10_000 * CREDIT, 2_000 * CREDIT],
    ['99%', 9_000_000_000_000_000, 8_910_000_000_000_000],
    ['1%', 199, 1],
    ['33%', 100, 33],
    ['1000', 5, 1_000 * CREDIT],
    ['0.13', 5, 130_000],
    ['0', 5, CREDIT - 1],
  ])('%s of %i is %i', (name, most, level) => {
    expect(levelOf(threshold(name), most)).toBe(level)
  })

  it.each(['', '0%', '100%', '-1', '2.5%', '%', 'ten', '1e3', '0.1234567'])('%j is refused', (name) => {
    expect(parseThreshold(name).ok).toBe(false)
  })

  it('is unique in the list, and has defaults', () => {
    expect(Thresholds.parse(undefined).map(({ name }) => name)).toEqual(DEFAULT_THRESHOLDS)
    for (const list of [[], ['5%', '5%'], Array.from({ length: 11 }, (_, i) => `${i + 1}%`), [5]]) {
      expect(Thresholds.safeParse(list).success).toBe(false)
    }
  })
})

describe('balance watch', () => {
  const thresholds = ['1000', '20%', '0'].map(threshold)
  /** Events of a series of balances; `period` starts a new period. */
  const told = (start: number, ...steps: (number | { period: number })[]) => {
    let { watch } = watchBalance(startWatch(thresholds, 0), thresholds, start * CREDIT, false)
    return steps.map((step) => {
      const [left, isNew] = typeof step === 'number' ? [step, false] : [step.period, true]
      const { watch: after, reached } = watchBalance(watch, thresholds, left * CREDIT, isNew)
      watch = after
      return reached.map(({ name }) => name)
    })
  }

  it('fires each threshold once, the highest first', () => {
    expect(told(10_000, 2_001, 2_000, 1_999, 1_001, 0.5, 0)).toEqual([[], ['20%'], [], [], ['1000', '0'], []])
    expect(told(10_000, 0)).toEqual([['20%', '1000', '0']])
  })

  it('fires again after a top-up above the threshold, and not after a smaller one', () => {
    expect(told(10_000, 1_500, 1_900, 1_400, 2_100, 1_300)).toEqual([['20%'], [], [], [], ['20%']])
  })

  it("uses percentages of this period's highest balance", () => {
    expect(told(10_000, 20_000, 4_000)).toEqual([[], ['20%']])
    expect(told(20_000, { period: 10_000 }, 4_000, 2_000)).toEqual([[], [], ['20%']])
  })

  it('fires immediately if the balance is already below, and not again when the threshold is set again', () => {
    const set = (...[most, before]: [number, Parameters<typeof startWatch>[2]?]) =>
      watchBalance(startWatch(thresholds, most * CREDIT, before), thresholds, 1_500 * CREDIT, false)
    const { watch, reached } = set(10_000)
    expect(reached.map(({ name }) => name)).toEqual(['20%'])
    expect(set(10_000, { thresholds, watch }).reached).toEqual([])
    expect(set(1_500).reached).toEqual([])
  })

  it('fires when the end of a period expires credits', () => {
    expect(told(5_000, { period: 0 }, { period: 0 })).toEqual([['1000', '20%', '0'], []])
  })

  it('fires at most once between two times above the threshold, in any sequence of spending, top-ups and renewals', () => {
    const names = fc.uniqueArray(fc.constantFrom('0', '20%', '5%', '99%', '1%', '1', '3', '0.5'), { minLength: 1 })
    const step = fc.oneof(
      fc.record({ do: fc.constant('spend' as const), micro: fc.integer({ min: 0, max: 3 * CREDIT }) }),
      fc.record({ do: fc.constant('top up' as const), micro: fc.integer({ min: 0, max: 6 * CREDIT }) }),
      fc.record({ do: fc.constant('renew' as const), micro: fc.integer({ min: 0, max: 10 * CREDIT }) }),
    )
    fc.assert(
      fc.property(
        names,
        fc.integer({ min: 0, max: 10 * CREDIT }),
        fc.array(step, { maxLength: 60 }),
        (list, start, steps) => {
          const own = list.map(threshold)
          let left = start
          let most = start
          let { watch } = watchBalance(startWatch(own, 0), own, left, false)
          // Independent count: the last time the balance was above, and whether it has fired since.
          const above = new Map(own.map((each) => [each.name, left > levelOf(each, most)]))
          for (const { do: action, micro } of steps) {
            if (action === 'spend') left -= Math.min(left, micro)
            if (action === 'top up') left += micro
            if (action === 'renew') left = micro
            most = action === 'renew' ? left : Math.max(most, left)
            const next = watchBalance(watch, own, left, action === 'renew')
            watch = next.watch
            const expected = own.filter((each) => above.get(each.name) && left <= levelOf(each, most))
            expect(next.reached.map(({ name }) => name).sort()).toEqual(expected.map(({ name }) => name).sort())
            for (const each of own) above.set(each.name, left > levelOf(each, most))
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('webhook', () => {
  it.each(['https://example.com', 'https://example.com:8443/hooks?a=b', 'http://127.0.0.1:3000/x'])(
    'takes %s',
    (url) => {
      expect(WebhookUrl.safeParse(url).success).toBe(true)
    },
  )

  it('rejects an overlong URL without parsing it', () => {
    const parsed = WebhookUrl.safeParse(`${'a'.repeat(3_000)}@`)
    expect(parsed.error?.issues.map(({ code }) => code)).toEqual(['too_big'])
  })

  it.each([
    '',
    'example.com',
    'ftp://example.com',
    'https://',
    'https://user:secret@example.com/',
    'https://secret@example.com',
    'https:\\\\user:secret@example.com',
    ' https://example.com',
    'https://example.com/a b',
    `https://example.com/${'x'.repeat(2_048)}`,
  ])('refuses %j without repeating it', (url) => {
    const parsed = WebhookUrl.safeParse(url)
    expect(parsed.success).toBe(false)
    expect(JSON.stringify(parsed.error?.issues)).not.toContain('secret')
  })

  it('is retried about two dozen times in a day, with growing delays of which up to half is random', () => {
    for (const random of [0, 0.5, 0.999]) {
      let attempts = 0
      let at = 0
      let last = 0
      while (at <= GIVE_UP_MS) {
        const delay = backoffMs(RETRY, attempts++, random)
        expect(delay).toBeGreaterThanOrEqual(last)
        last = delay
        at += delay
      }
      expect(attempts).toBeGreaterThan(12)
      expect(attempts).toBeLessThan(50)
    }
    expect([backoffMs(RETRY, 0, 0), backoffMs(RETRY, 1_000, 0)]).toEqual([15_000, 3_600_000])
  })

  it('contains the balance, the maximum and the threshold', () => {
    const event = { id: 'evt_1', account: 'a', threshold: '20%', leftMicro: 130_000, mostMicro: CREDIT, createdMs: 5 }
    expect(JSON.parse(lowBalanceBody(event))).toEqual({
      id: 'evt_1',
      type: 'credits.low',
      account: 'a',
      created: 5,
      threshold: '20%',
      credits_left: '0.13',
      credits_at_most: '1',
    })
  })
})
