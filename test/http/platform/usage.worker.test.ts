// Usage of an account for the operator: every row of the meter once, over all pages.

import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { UsageReports } from '../../../src/metering/usage-report.store.ts'
import { ask, bindings, meterOf, newKey } from './operator.worker.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const TODAY = Math.floor(Date.now() / DAY) * DAY
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
type Row = readonly [hour: number, hash: string, product: string, type: string, calls: number, micro: number]

const used = (account: string, rows: readonly Row[]) =>
  runInDurableObject(bindings.CREDIT_METER.getByName(account), (_, { storage }) => {
    for (const row of rows) storage.sql.exec('INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, 1)', ...row)
  })

it('is listed by day, key and type, with separate calls and stream minutes', async () => {
  const one = await newKey({ credits: 100, label: 'one' })
  const two = await newKey({ account: one.account, label: 'two' })
  await used(one.account, [
    [TODAY - 32 * DAY, one.hash, 'info', 'meta', 1_000, 1_000],
    [TODAY - DAY, one.hash, 'info', 'l2Book', 2, 20_000_000],
    [TODAY - DAY + HOUR, one.hash, 'info', 'l2Book', 1, 10_000_001],
    [TODAY, one.hash, 'stream', 'allFills', 7, 7_000_000],
    [TODAY, two.hash, 'info', 'meta', 4, 4_000_000],
    [TODAY, two.hash, 'pipeline', 'fills', 9, 900],
  ])
  const { status, json } = await ask('GET', `/accounts/${one.account}/usage?from=${dayOf(TODAY - DAY)}`)
  expect(status).toBe(200)
  const name = ({ hash, prefix }: typeof one, label: string) => ({ hash, prefix, label, date: dayOf(TODAY) })
  const none = { calls: 0, stream_minutes: 0, pipeline_rows: 0 }
  const info = { ...none, product: 'info' }
  const rows = [
    { ...name(one, 'one'), ...info, date: dayOf(TODAY - DAY), type: 'l2Book', calls: 3, credits: '30.000001' },
    { ...name(one, 'one'), ...none, product: 'stream', type: 'allFills', stream_minutes: 7, credits: '7' },
    { ...name(two, 'two'), ...info, type: 'meta', calls: 4, credits: '4' },
    { ...name(two, 'two'), ...none, product: 'pipeline', type: 'fills', pipeline_rows: 9, credits: '0.0009' },
  ]
  const order = (row: (typeof rows)[number]) => `${row.date} ${row.hash}`
  expect(json).toEqual({
    account: one.account,
    from: dayOf(TODAY - DAY),
    to: dayOf(TODAY),
    totals: { calls: 7, stream_minutes: 7, pipeline_rows: 9, credits: '41.000901' },
    rows: rows.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    next: null,
  })
  const { json: year } = await ask('GET', `/accounts/${one.account}/usage?duration=3`)
  expect([year.rows.length, year.totals.calls]).toEqual([5, 1_007])
})

it('has each row once across several pages, and the same totals on each page', async () => {
  const { account, hash } = await newKey({ credits: 1 })
  const types = Array.from({ length: 30 }, (_, i) => `type${i}`)
  const rows = types.flatMap((type, i) =>
    Array.from({ length: 70 }, (_, day): Row => {
      const product = i % 3 === 0 ? 'stream' : 'info'
      return [TODAY - day * DAY + (i % 24) * HOUR, hash, product, type, 1 + day, 1_000_000]
    }),
  )
  await used(account, rows)
  const shown: { date: string; hash: string; product: string; type: string; calls: number; stream_minutes: number }[] =
    []
  const pages: number[] = []
  const sumOf = (isStream: boolean) =>
    rows.filter((row) => (row[2] === 'stream') === isStream).reduce((sum, row) => sum + row[4], 0)
  for (let next: string | null = ''; next !== null; ) {
    const { json } = await ask('GET', `/accounts/${account}/usage?duration=3${next && `&after=${next}`}`)
    expect(json.totals).toEqual({ calls: sumOf(false), stream_minutes: sumOf(true), pipeline_rows: 0, credits: '2100' })
    pages.push(json.rows.length)
    shown.push(...json.rows)
    next = json.next
  }
  expect(pages).toEqual([1_000, 1_000, 100])
  const places = shown.map((row) => `${row.date} ${row.hash} ${row.product} ${row.type}`)
  expect(places).toEqual([...new Set(places)].sort())
  const written = rows.map((row) => `${dayOf(row[0])} ${row[1]} ${row[2]} ${row[3]} ${row[4]}`)
  const told = shown.map(
    (row) => `${row.date} ${row.hash} ${row.product} ${row.type} ${row.calls + row.stream_minutes}`,
  )
  expect(told.sort()).toEqual(written.sort())
})

it('has no page after the last row', async () => {
  const { account, hash } = await newKey({ credits: 1 })
  await used(
    account,
    Array.from({ length: 1_000 }, (_, i): Row => [TODAY, hash, 'info', `type${i}`, 1, 1]),
  )
  const { json } = await ask('GET', `/accounts/${account}/usage`)
  expect([json.rows.length, json.next]).toEqual([1_000, null])
})

it('lists the largest keys if there are too many, with the sums of all keys', async () => {
  const { account } = await newKey({ credits: 1 })
  const hashOf = (i: number) => i.toString(16).padStart(64, '0')
  await used(
    account,
    Array.from({ length: 1_002 }, (_, i): Row => [TODAY, hashOf(i), 'info', 'meta', 1, i]),
  )
  const { byKey, byDay } = await meterOf(account).usage(TODAY, TODAY + DAY)
  expect([byKey.length, byKey[0]?.keyHash, byKey.at(-1)?.keyHash]).toEqual([1_000, hashOf(1_001), hashOf(2)])
  expect(byDay).toMatchObject([{ calls: 1_002, amount: (1_001 * 1_002) / 2 }])
})

it('reads few extra rows per page, and each row once per report', async () => {
  const { account, hash } = await newKey({ credits: 1 })
  const hours = Array.from({ length: 40 * 24 }, (_, i) => TODAY - i * HOUR)
  await used(
    account,
    hours.map((hour): Row => [hour, hash, 'info', 'meta', 1, 1]),
  )
  const read = await runInDurableObject(bindings.CREDIT_METER.getByName(account), (_, { storage: { sql } }) => {
    const cursors: { readonly rowsRead: number }[] = []
    const exec: SqlStorage['exec'] = (query, ...values) => {
      const cursor = sql.exec(query, ...values)
      cursors.push(cursor)
      return cursor as never
    }
    const reports = new UsageReports({ exec })
    const readBy = (act: () => void) => {
      cursors.length = 0
      act()
      return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
    }
    const from = TODAY - 40 * DAY
    const after = { day: from + 5 * DAY, keyHash: keyHashOf(hash), product: 'info', type: 'meta' }
    return [
      readBy(() => reports.page(from, TODAY + DAY, null, 3)),
      readBy(() => reports.page(from, TODAY + DAY, after, 3)),
      readBy(() => reports.report(from, TODAY + DAY)),
    ]
  })
  // Total and three days of a page.
  expect(read[0]).toBeLessThan(40 * 24 + 200)
  expect(read[1]).toBeLessThan(40 * 24 + 200)
  // Sorting for GROUP BY counts as another read.
  expect(read[2]).toBeLessThan(40 * 24 * 2 + 400)
})

it('fails for an unknown account', async () => {
  expect((await ask('GET', '/accounts/nobody-here/usage')).status).toBe(404)
  const { account } = await newKey({ credits: 1 })
  const none = { totals: { calls: 0, stream_minutes: 0, pipeline_rows: 0, credits: '0' }, rows: [], next: null }
  expect((await ask('GET', `/accounts/${account}/usage`)).json).toMatchObject(none)
})

it('of past days is merged after copying, and reports stay the same', async () => {
  const { account, hash } = await newKey({ credits: 1 })
  const hours = Array.from({ length: 50 * 24 }, (_, i) => TODAY + 2 * HOUR - i * HOUR)
  await used(
    account,
    hours.flatMap((hour): Row[] => [
      [hour, hash, 'info', 'meta', 1, 10],
      [hour, hash, 'stream', 'trades', 2, 3],
    ]),
  )
  const before = await meterOf(account).usage(TODAY - 60 * DAY, TODAY + DAY)
  const object = bindings.CREDIT_METER.getByName(account)
  const ring = async (setUp: string) => {
    await runInDurableObject(object, (_, { storage }) => {
      storage.sql.exec(setUp)
      return storage.setAlarm(Date.now() + 60_000)
    })
    await runDurableObjectAlarm(object)
    return runInDurableObject(object, (_, { storage: { sql } }) =>
      sql
        .exec<{ hour: number; calls: number }>("SELECT hour, calls FROM usage WHERE product = 'info' ORDER BY hour")
        .toArray(),
    )
  }
  const copied = { calls: 1 }
  // A row missing in D1 delays the roll-up of its days; the alarm copies it first.
  expect(await ring('UPDATE account SET uncopied = 1')).toHaveLength(50 * 24)
  expect((await ring('SELECT 1')).length).toBeLessThan(25 * 24)
  const rows = await ring('SELECT 1')
  expect(rows.filter(({ hour }) => hour < TODAY - DAY).every(({ hour }) => hour % DAY === 0)).toBe(true)
  expect(rows.filter(({ hour }) => hour >= TODAY - DAY)).toEqual(Array(27).fill(expect.objectContaining(copied)))
  expect(rows).toHaveLength(49 + 27)
  expect(await ring('SELECT 1')).toEqual(rows)
  expect(await meterOf(account).usage(TODAY - 60 * DAY, TODAY + DAY)).toEqual(before)
})
