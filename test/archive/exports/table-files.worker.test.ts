// Parquet among the files that can be taken away: what is whole, each row in one table, and none missed while hours become a day.

import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { tableFiles } from '../../../src/archive/exports/exports.store.ts'
import { filePage, type ListedFile, readCursor } from '../../../src/archive/exports/file-list.ts'
import { tableKey } from '../../../src/archive/files/file-keys.ts'
import type { FileSpan, Level } from '../../../src/archive/files/levels.ts'
import { isTimeTable, type TableName } from '../../../src/archive/files/table.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BEGIN = Date.UTC(2026, 10, 20)
const RANGE = { fromMs: BEGIN, toMs: BEGIN + DAY_MS - 1 }
const NAMES: readonly TableName[] = [
  'fills-by-user',
  'fills-by-time',
  'ledger-by-user',
  'candles-by-coin',
  'oracle-updates-by-time',
]

/** Ten blocks an hour. */
const hours = (from: number, count: number): FileSpan => {
  const first = 10 * from
  const firstMs = BEGIN + from * HOUR_MS
  return { first, last: first + 10 * count - 1, firstMs, lastMs: firstMs + count * HOUR_MS - 1 }
}

async function put(chain: string, level: Level, file: FileSpan, state: string, numbers = 1, names = NAMES) {
  const { first, last, firstMs, lastMs } = file
  await env.HISTORY.prepare(`INSERT OR REPLACE INTO files (chain, level, first, last, first_ms, last_ms, objects, rows, bytes,
    state, merged_ms) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?)`)
    .bind(chain, level, first, last, firstMs, lastMs, state, state === 'merged' ? 0 : null)
    .run()
  for (const name of names)
    for (let number = 0; number < numbers; number++) {
      await env.ARCHIVE.put(tableKey(chain, level, file, number, name), 'x')
      await env.HISTORY.prepare(`INSERT OR REPLACE INTO file_tables (chain, level, first, last, first_ms, last_ms, number, name,
        rows, bytes, sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 5, 'ab')`)
        .bind(chain, level, first, last, firstMs, lastMs, number, name)
        .run()
    }
}

/** Days have none in the order of the chain. */
async function merged(chain: string, isWhole = true): Promise<void> {
  const byUser = NAMES.filter((name) => !isTimeTable(name))
  await put(chain, 2, hours(0, 3), isWhole ? 'live' : 'open', 2, byUser)
  if (isWhole)
    await env.HISTORY.prepare(`UPDATE files SET state = 'merged', merged_ms = 0 WHERE chain = ? AND level = 1`)
      .bind(chain)
      .run()
}

const sourcesOf = (chain: string) => tableFiles(env.HISTORY, chain)
const shown = (files: readonly ListedFile[]) =>
  files.map(({ product, key }) => `${product} ${key.split('/')[2]} ${key.split('/')[4]!.split('.')[1]}`)
const pageOf = (chain: string, next: string | null, limit: number) =>
  filePage(sourcesOf(chain), RANGE, next === null ? null : readCursor(next, sourcesOf(chain), RANGE), limit)

it('tables are listed by hour until their day is complete, then by day; each file once, whatever the page size', async () => {
  const chain = 'tables'
  for (const hour of [0, 1, 2]) await put(chain, 1, hours(hour, 1), 'live', hour === 1 ? 2 : 1)
  const ofHours = (name: string) => ['0000', '0000', '0001', '0000'].map((number) => `${name} hour ${number}`)
  const all = NAMES.map((name) => name.replaceAll('-', '_')).flatMap(ofHours)
  for (const limit of [1, 2, 3, 100]) {
    const found: ListedFile[] = []
    for (let next: string | null = null, pages = 0; pages === 0 || next !== null; pages++) {
      const page = await pageOf(chain, next, limit)
      found.push(...page.files)
      next = page.next
    }
    expect(shown(found)).toEqual(all)
    expect(new Set(found.map(({ key }) => key)).size).toBe(20)
  }
  await merged(chain, false)
  expect(shown((await pageOf(chain, null, 100)).files)).toEqual(all)
  await merged(chain)
  const ofDay = (name: string) => [`${name} day 0000`, `${name} day 0001`]
  const { files } = await pageOf(chain, null, 100)
  expect(shown(files)).toEqual([
    ...[...ofDay('fills_by_user'), ...ofHours('fills_by_time')],
    ...[...ofDay('ledger_by_user'), ...ofDay('candles_by_coin'), ...ofHours('oracle_updates_by_time')],
  ])
  expect(await Promise.all(sourcesOf(chain).map((source) => source.totals(RANGE)))).toEqual([
    { objects: 2, bytes: 10 },
    { objects: 4, bytes: 20 },
    { objects: 2, bytes: 10 },
    { objects: 2, bytes: 10 },
    { objects: 0, bytes: 0 },
    { objects: 0, bytes: 0 },
    { objects: 4, bytes: 20 },
    { objects: 0, bytes: 0 },
  ])
  for (const { key } of files) expect(await env.ARCHIVE.head(key)).not.toBeNull()
})
