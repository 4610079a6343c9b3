// Statements against the ledger: a random history of several months, by the ledger's own decisions on a test clock.

import { runInDurableObject } from 'cloudflare:test'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { monthTimes } from '../../src/http/platform/endpoints/statements.ts'
import { AccountLedger, tablesOf } from '../../src/metering/account-ledger.store.ts'
import { remainingOf } from '../../src/metering/account-state.ts'
import type { PlanTerms } from '../../src/metering/plans/plan.ts'
import { TopUps } from '../../src/metering/top-ups.do.ts'
import { Webhooks } from '../../src/metering/webhooks/webhooks.do.ts'
import { egressOf } from '../core/egress-of.ts'
import { stubOf } from './meter.worker.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 20, 13, 5)
const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0)

const act = fc.record({
  /** Time before the step: minutes to weeks. */
  afterMs: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 20 * DAY })),
  what: fc.constantFrom('grant', 'lease', 'settle', 'close', 'late', 'minute', 'refund', 'rows', 'plan', 'reclaim'),
  amount: fc.integer({ min: 1, max: 40_000_000 }),
  key: fc.constantFrom(...['a1', 'b2', 'c3'].map(keyHashOf)),
})
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

const noGateway = (): never => {
  throw new Error('no gateway')
}

/** Replays a history; returns the balance at the start of each month. */
function play(ctx: DurableObjectState, acts: readonly Act[]) {
  const webhooks = new Webhooks(ctx, egressOf(), noGateway)
  const tables = tablesOf(ctx.storage)
  const { statements } = tables
  const ledger = new AccountLedger(tables, webhooks, new TopUps(ctx, noGateway, () => 0))
  const times = monthTimes(START + 330 * DAY)
  const left = new Map<number, number>()
  const spent = new Map<string, number>()
  let now = START
  let number = 0
  let lease = 'l0'
  const minutes: { readonly key: string; readonly amount: number; readonly atMs: number }[] = []
  const pass = (toMs: number) => {
    for (const month of times.filter((time) => time > now && time <= toMs)) {
      ledger.renewPlan(month - 1)
      left.set(month, remainingOf(ledger.account()))
    }
    now = toMs
    ledger.renewPlan(now)
  }
  const terms = (amount: number): PlanTerms =>
    amount % 3 === 0 ? { micro: amount, period: 'once', days: 14 } : { micro: amount, period: 'month', days: null }
  const exchange = (key: string, need: number, more: number, close: boolean) => {
    spent.set(lease, (spent.get(lease) ?? 0) + more)
    const all = spent.get(lease)!
    const usage = [{ product: 'info', type: 'meta', calls: all, amount: all }]
    ledger.lease(
      { v: 1, lease, keyHash: keyHashOf(key), spent: all, usage, need, waiting: need, forecast: 0, close },
      now,
    )
    if (close) lease = `l${++number}`
  }
  const run = ({ afterMs, what, amount, key }: Act) => {
    pass(now + afterMs)
    // A refund reverses the last minute where it was recorded, so a month that ended in between would change.
    const refunded = what === 'refund' ? minutes.at(-1) : undefined
    if (what === 'grant') ledger.grant(`grant:${++number}`, amount, now)
    else if (what === 'lease') exchange('a1', amount, 0, false)
    else if (what === 'settle') exchange('a1', 0, Math.floor(amount / 3), false)
    else if (what === 'close') exchange('a1', 0, 0, true)
    else if (what === 'late') exchange('a1', 0, amount, false)
    else if (what === 'plan') ledger.applyPlan({ plan: `p${amount % 5}`, terms: terms(amount), firstMicro: null }, now)
    else if (what === 'reclaim') ledger.reclaim(now)
    else if (what === 'rows') {
      const rows = {
        pipeline: `pipe${key}`,
        keyHash: key,
        type: 'fills',
        rows: ++number * 10,
        spent: number * 1_000_000,
      }
      ledger.settlePipeline({ v: 1, ...rows }, now)
    } else if (what === 'minute') {
      const charge = {
        subscription: `r/${++number}`,
        ordinal: 0,
        count: 1,
        keyHash: key,
        type: 'trades',
        amount,
        body: 'b',
        leftMs: 1,
      }
      if (ledger.charge(charge, now, false).ok) minutes.push({ key, amount, atMs: now })
    } else if (refunded && now - refunded.atMs < 60_000) {
      ledger.refund({ keyHash: keyHashOf(refunded.key), type: 'trades', amount: refunded.amount }, now, refunded.atMs)
      minutes.pop()
      for (const month of left.keys()) if (month > refunded.atMs) left.set(month, left.get(month)! + refunded.amount)
    }
  }
  for (const one of acts) tables.store.transact(() => run(one))
  const account = ledger.account()
  tables.store.transact(() => {
    tables.store.settleUsage()
    tables.store.prune(now + 2 * DAY)
  })
  return { times, left, account, statements, usage: tables.usage }
}

it('equal the ledger at each end of a month, to the micro-credit', async () => {
  let run = 0
  let months = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 60 }), async (acts) => {
      const stub = stubOf(`statement ${run++}`)
      const plain = await runInDurableObject(stub, (_, ctx) => {
        const { times, left, account, statements, usage } = play(ctx, acts)
        const now = remainingOf(account)
        const sums = statements.sums(times, now)
        const whole = sums.map((_, i) => statements.statement(times[i]!, times[i + 1]!, now))
        const reports = sums.map((_, i) => usage.report(times[i]!, times[i + 1]!))
        return { times, left: [...left], account, sums, whole, reports }
      })
      const { times, left, account, sums, whole, reports } = plain
      for (const [month, balance] of left) {
        const at = times.indexOf(month)
        expect(sums[at]?.opening).toBe(balance)
        months++
      }
      for (const [i, one] of sums.entries()) {
        expect(one.opening + one.granted - one.expired - one.charged).toBe(one.closing)
        if (i > 0) expect(one.opening).toBe(sums[i - 1]!.closing)
        const { given, lines, ...same } = whole[i]!
        expect(same).toEqual(one)
        expect(sum(given.map(({ amount }) => amount))).toBe(one.granted)
        expect(sum(lines.map(({ amount }) => amount))).toBe(one.charged + one.writtenOff)
        expect(sum(reports[i]!.byDay.map(({ amount }) => amount))).toBe(one.charged + one.writtenOff)
      }
      expect(sums[0]!.opening).toBe(0)
      expect(sums.at(-1)!.closing).toBe(remainingOf(account))
      expect(sum(sums.map(({ charged }) => charged))).toBe(account.spent)
      expect(sum(sums.map(({ granted, expired }) => granted - expired))).toBe(account.granted)
    }),
    { numRuns: 60 },
  )
  expect(months).toBeGreaterThan(50)
})
