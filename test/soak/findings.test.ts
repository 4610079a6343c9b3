// How a soak evaluates its findings: absences by fault, and a verdict that misses no failure.

import { expect, it } from 'vitest'
import { type Findings, failures, tableOf } from './table.ts'
import { Wellness } from './wellness.ts'

it('a client’s absence belongs to the last fault before it', () => {
  const faults: number[] = []
  const wellness = new Wellness(faults, 0)
  wellness.see(null, 3_000)
  faults.push(10_000)
  wellness.see(10_100, 10_500)
  wellness.see(10_100, 11_000)
  faults.push(30_000)
  wellness.see(null, 31_000)
  wellness.see(45_000, 50_000)
  expect(wellness.badSinceMs).toBe(45_000)
  wellness.see(null, 52_000)
  expect(wellness.absences).toEqual([
    { fault: -1, ms: 3_000 },
    { fault: 0, ms: 20_900 },
    { fault: 1, ms: 7_000 },
  ])
})

const GOOD: Findings = {
  minutes: 30,
  clients: 500,
  scale: 'mainnet',
  seed: 1,
  blocks: 26_000,
  gaps: 0,
  epochs: 1,
  faults: ['feeder killed'],
  absences: [{ client: 'client 7', kind: 'orders', fault: 0, ms: 100_000 }],
  missing: [],
  comparisons: [{ height: 9, clients: 2, books: 600, wrong: [], absent: 0 }],
  quiet: {
    rows: { clients: 1, rows: 9, wrong: [] },
    states: { compared: 1, wrong: [] },
    candles: { compared: 1, wrong: [] },
    back: [],
  },
  past: {
    rows: 9,
    books: 2,
    unknown: 0,
    candles: 3,
    accounts: { fills: 9, ledger: 2, payments: 4, trades: 1 },
    wrong: [],
    speed: { fills: 200, books: 100 },
  },
  audit: { accounts: 1, compared: 3, charged: 3, least: 2, most: 4, writtenOff: 0, faults: [] },
  heap: {
    isolates: [{ worker: 'weir-live', bytes: 90_000_000 }],
    objects: [{ name: 'BlockLog', bytes: 50_000_000 }],
  },
  churn: {
    connections: 100,
    subscriptions: 400,
    refusals: { 'books are unavailable, reconnect': 1 },
    left: [],
    heaps: [{ worker: 'weir-live', before: 20_000_000, after: 20_900_000 }],
  },
  taken: [{ name: 'workerd', peakMb: 500, share: 0.9 }],
  busy: { cores: 1.5, of: 2 },
  troubles: [],
}

it('is content with a good run, and shows it', () => {
  expect(failures(GOOD)).toEqual([])
  expect(tableOf(GOOD).replaceAll(/ +/g, ' ')).toContain('| feeder killed | 1 | 1 | 100.0 s | 100.0 s |')
})

it.each<[string, Partial<Findings>]>([
  ['a wrong book', { comparisons: [{ ...GOOD.comparisons[0]!, wrong: ['client 3 BTC'] }] }],
  ['an end in which nothing was compared', { comparisons: [] }],
  ['a client that had no book in the end', { comparisons: [{ ...GOOD.comparisons[0]!, absent: 1 }] }],
  ['a client that was away for too long', { absences: [{ client: 'client 7', kind: 'list', fault: 0, ms: 60_001 }] }],
  ['a book of orders that was', { absences: [{ client: 'client 7', kind: 'orders', fault: 0, ms: 180_001 }] }],
  ['a client that never came back', { missing: ['client 7'] }],
  ['a charge that does not add up', { audit: { ...GOOD.audit!, faults: ['client 7'] } }],
  ['a row that was left out', { quiet: { ...GOOD.quiet!, rows: { clients: 1, rows: 9, wrong: ['client 7'] } } }],
  ['a state that is not so', { quiet: { ...GOOD.quiet!, states: { compared: 9, wrong: ['client 7'] } } }],
  ['a candle that is not so', { quiet: { ...GOOD.quiet!, candles: { compared: 9, wrong: ['client 7'] } } }],
  ['a book of the past that is not so', { past: { ...GOOD.past!, wrong: ['BTC at 7 differs'] } }],
  ['an archive that nobody looked at', { past: null }],
  ['no candle', { quiet: { ...GOOD.quiet!, candles: { compared: 0, wrong: [] } } }],
  ['a time that went back', { quiet: { ...GOOD.quiet!, back: ['client 7'] } }],
  ['clients that were not asked what they were told', { quiet: null }],
  ['no audit', { audit: null }],
  ['an isolate that is too large', { heap: { isolates: [{ worker: 'weir-live', bytes: 105_000_000 }], objects: [] } }],
  ['memory that was not measured', { heap: null }],
  ['connections that nobody measured', { churn: null }],
  [
    'a heap that grew',
    { churn: { ...GOOD.churn!, heaps: [{ worker: 'weir', before: 10_000_000, after: 10_600_000 }] } },
  ],
  ['objects that stay behind', { churn: { ...GOOD.churn!, left: ['Connection: +100'] } }],
  ['connections that had to come again', { churn: { ...GOOD.churn!, refusals: { reconnect: 2 } } }],
  ['a run that broke', { troubles: ['the run broke'] }],
])('fails on %s', (_, change) => {
  expect(failures({ ...GOOD, ...change })).toHaveLength(1)
})
