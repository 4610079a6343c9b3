// Reports of one isolate to the Monitor.

import { beforeEach, expect, it } from 'vitest'
import { CounterReporter } from '../../src/core/counter-reporter.ts'
import { type CounterReport, Counters } from '../../src/core/counters.ts'

let nowMs = 0
let received: CounterReport[] = []
let isDown = false
let everyMs = 20_000
let counters = new Counters()
let reporter: CounterReporter
let pending: Promise<unknown> = Promise.resolve()
const context = {
  waitUntil(work: Promise<unknown>) {
    pending = work
  },
}
const sink = () => ({
  async report(report: CounterReport) {
    received.push(report)
    if (isDown) throw new Error('down')
    return { v: 1, everyMs }
  },
})

beforeEach(() => {
  nowMs = 1_000_000
  received = []
  isDown = false
  everyMs = 20_000
  counters = new Counters()
  const sleep = async (ms: number) => {
    nowMs += ms
  }
  reporter = new CounterReporter(counters, { nowMs: () => nowMs, sleep, newId: () => 'isolate' })
})

it('sends one report for all requests of 20 s', async () => {
  for (let call = 0; call < 1_000; call++) {
    counters.add('log_events', 'request_failed')
    reporter.schedule(sink, context, nowMs)
  }
  await pending
  expect(received.map(({ number, sums }) => [number, sums])).toEqual([[0, [['log_events|request_failed', 1_000]]]])
})

it('repeats a report that failed, unchanged, before it sends newer counts', async () => {
  counters.add('credits_leased', '', 5)
  isDown = true
  reporter.flush(sink, context)
  await pending
  counters.add('credits_leased', '', 7)
  isDown = false
  for (let turn = 0; turn < 2; turn++) {
    nowMs += 20_000
    reporter.flush(sink, context)
    await pending
  }
  expect(received.map(({ number, sums }) => [number, sums])).toEqual([
    [0, [['credits_leased', 5]]],
    [0, [['credits_leased', 5]]],
    [1, [['credits_leased', 7]]],
  ])
})

it('keeps the interval that the Monitor asks for', async () => {
  everyMs = 300_000
  for (let second = 0; second < 600; second++) {
    reporter.flush(sink, context)
    await pending
    nowMs += 1_000
  }
  expect(received).toHaveLength(2)
})

it('keeps that interval for requests too, and reports every 20 s if it is short', async () => {
  const timers: [atMs: number, wake: () => void][] = []
  const sleep = (ms: number) => new Promise<void>((wake) => timers.push([nowMs + ms, wake]))
  const reportsInAnHour = async () => {
    received = []
    timers.length = 0
    const gateway = new CounterReporter(counters, { nowMs: () => nowMs, sleep, newId: () => 'gateway' })
    for (const endMs = nowMs + 3_600_000; nowMs < endMs; nowMs += 1_000) {
      gateway.schedule(sink, context, nowMs)
      if (timers[0] && timers[0][0] <= nowMs) timers.shift()?.[1]()
      await new Promise((turn) => setImmediate(turn))
    }
    return received.length
  }
  expect(await reportsInAnHour()).toBeGreaterThan(160)
  everyMs = 300_000
  expect(await reportsInAnHour()).toBe(12)
})

it('a late answer confirms only the report that it answers', async () => {
  const answers: { resolve: (answer: { v: number; everyMs: number }) => void; reject: (error: Error) => void }[] = []
  const slow = () => ({
    report(report: CounterReport) {
      received.push(report)
      return new Promise<{ v: number; everyMs: number }>((resolve, reject) => answers.push({ resolve, reject }))
    },
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const report = () => {
    nowMs += 30_000
    reporter.flush(slow, context)
  }
  const ok = { v: 1, everyMs: 0 }
  counters.add('credits_charged', '', 1)
  report()
  report()
  answers[1]?.resolve(ok)
  await turn()
  counters.add('credits_charged', '', 100)
  report()
  answers[0]?.resolve(ok)
  await turn()
  answers[2]?.reject(new Error('reset'))
  await turn()
  report()
  expect(received.map(({ number }) => number)).toEqual([0, 0, 1, 1])
  expect(received[3]?.sums).toEqual([['credits_charged', 100]])
})

it('shows the longest time by series, growing, and forgets an object that moved to another isolate', () => {
  const MINUTE_MS = 60_000
  counters.setLate('usage_copy_late_seconds', 'moved', nowMs - 1_500_000, nowMs)
  counters.setLate('usage_copy_late_seconds', 'here', nowMs - 60_000, nowMs + 20 * MINUTE_MS)
  expect(counters.gauges(nowMs + 29 * MINUTE_MS)).toEqual([['usage_copy_late_seconds', 1_500 + 29 * 60]])
  expect(counters.gauges(nowMs + 30 * MINUTE_MS)).toEqual([['usage_copy_late_seconds', 60 + 30 * 60]])
  counters.setLate('usage_copy_late_seconds', 'here', null, nowMs)
  expect(counters.gauges(nowMs)).toEqual([])
})

it('an object has one label at a time, of the known ones', () => {
  counters.setLate('pipeline_lag_seconds', 'a', nowMs - 5_000, nowMs, 'backfilling')
  counters.setLate('pipeline_lag_seconds', 'a', nowMs - 7_000, nowMs, 'retrying')
  counters.setLate('pipeline_lag_seconds', 'b', nowMs - 3_000, nowMs, 'retrying')
  counters.setLate('pipeline_lag_seconds', 'c', nowMs - 9_000, nowMs, 'live')
  counters.setLate('pipeline_lag_seconds', 'c', nowMs - 9_000, nowMs, 'paused')
  expect(counters.gauges(nowMs)).toEqual([['pipeline_lag_seconds|retrying', 7]])
})
