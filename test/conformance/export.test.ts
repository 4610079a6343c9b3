// Exported files in the readers of others: DuckDB, and NumPy, with which hftbacktest loads its data. NautilusTrader itself is not
// run: its columns and metadata are compared with those that its serializer defines.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { booksProgram } from '../../src/cli/books.node.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { API_KEY, type ArchiveServer, serveArchive } from '../cli/books/archive-server.ts'
import { record } from '../cli/books/recording.ts'
import { say } from '../cli/stub.ts'
import { type DuckDb, missingDuckDb, openDuckDb } from '../duckdb/duckdb.ts'
import { scratch } from '../kit/program.ts'

const DAY = Date.UTC(2026, 10, 28)
const LAST = 550
const { blocks, objects } = record({
  startMs: DAY - 600_000,
  blocks: 600,
  stepMs: 2_000,
  seed: 11,
  missing: (height) => height >= 420 && height < 450,
  checkpoints: (height) => height % 100 === 0,
})
const truth = blocks.find(({ height }) => height === LAST)!.books.get('BTC')!
const folder = scratch()
let server: ArchiveServer

beforeAll(async () => {
  server = await serveArchive(objects)
  for (const format of ['parquet', 'hftbacktest', 'nautilus']) {
    const line = `--for ${format} --coin BTC --from 2026-11-28 --to 2026-11-28T00:05Z --out ${folder.path}/${format} --yes`
    const said = await say(booksProgram, line, { WEIR_URL: server.url, WEIR_KEY: API_KEY })
    expect(said.failed, said.notes.join()).toBe(false)
  }
})
afterAll(() => {
  server.close()
  folder.remove()
})

/** The query of the documentation. */
const EXAMPLE = /```sql\n([\s\S]*?)```/.exec(readFileSync('docs/guides/backtests.md', 'utf8'))![1]!
const missing = missingDuckDb()
if (missing !== null) console.log(`DuckDB is skipped: ${missing}`)

describe.skipIf(missing !== null)('DuckDB', () => {
  let duckDb: DuckDb
  beforeAll(async () => {
    duckDb = await openDuckDb(folder.path)
  })
  afterAll(() => duckDb.close())

  it('folds the Parquet file to the book of the last block', async () => {
    const file = `'parquet/BTC/2026-11-28.parquet'`
    const types = await duckDb.ask(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${file})`)
    expect(types.map(({ column_name: name, column_type: type }) => `${name} ${type}`)).toEqual([
      ...['height BIGINT', 'time_ms BIGINT', 'kind VARCHAR', 'seq BIGINT', 'side VARCHAR', 'px VARCHAR', 'sz VARCHAR'],
      'n INTEGER',
    ])
    const rows = (await duckDb.ask(EXAMPLE.replaceAll('books/', 'parquet/'))) as {
      side: string
      px: string
      sz: string
      n: number
    }[]
    const sorted = rows.toSorted((a, b) => Number(a.px) - Number(b.px))
    const side = (name: string) => sorted.filter((row) => row.side === name).map(({ px, sz, n }) => ({ px, sz, n }))
    expect([side('B').reverse(), side('A')]).toEqual(truth)
    const steps = `SELECT height, lag(height) OVER () AS before FROM ${file}`
    expect(await duckDb.ask(`SELECT count(*) AS bad FROM (${steps}) WHERE height < before`)).toEqual([{ bad: 0n }])
  })

  it('finds the columns and metadata of NautilusTrader, and folds them to the same book', async () => {
    const directory = 'nautilus/data/order_book_deltas/BTC-USD-PERP.HYPERLIQUID'
    const names = readdirSync(join(folder.path, directory))
    expect(names).toEqual(['2026-11-28T00-00-00-000000000Z_2026-11-28T00-05-00-000000000Z.parquet'])
    const file = `'${directory}/${names[0]}'`
    const schema = await duckDb.ask(
      `SELECT name, type, type_length, converted_type FROM parquet_schema(${file}) WHERE name <> 'root'`,
    )
    const column = (name: string, type: string, converted: string | null, length: string | null = null) => ({
      name,
      type,
      type_length: length,
      converted_type: converted,
    })
    const byte = (name: string) => column(name, 'INT32', 'UINT_8')
    const unsigned = (name: string) => column(name, 'INT64', 'UINT_64')
    const raw = (name: string) => column(name, 'FIXED_LEN_BYTE_ARRAY', null, '16')
    expect(schema).toEqual([
      ...[byte('action'), byte('side'), raw('price'), raw('size'), unsigned('order_id'), byte('flags')],
      ...[unsigned('sequence'), unsigned('ts_event'), unsigned('ts_init')],
    ])
    const pairs = await duckDb.ask(
      `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${file}) ORDER BY key`,
    )
    expect(Object.fromEntries(pairs.map(({ key, value }) => [key, value]))).toEqual({
      instrument_id: 'BTC-USD-PERP.HYPERLIQUID',
      price_precision: '1',
      size_precision: '3',
    })
    const rows = await duckDb.ask(`SELECT action, side, hex(price) AS px, hex(size) AS sz, flags FROM ${file}`)
    const value = (hex: unknown) => {
      const bytes = Buffer.from(String(hex), 'hex')
      return Number(bytes.readBigUInt64LE(0) + (bytes.readBigUInt64LE(8) << 64n)) / 1e16
    }
    const sides = new Map([1, 2].map((each) => [each, new Map<number, number>()]))
    for (const { action, side, px, sz } of rows) {
      const levels = sides.get(Number(side))
      if (action === 4) for (const each of sides.values()) each.clear()
      else if (action === 3) levels!.delete(value(px))
      else levels!.set(value(px), value(sz))
    }
    expect(numbersOf([...sides.values()].map((side) => [...side]))).toEqual(numbersOf(pairsOf(truth)))
    // Start, gap and the book after it; each block ends with F_LAST.
    expect(rows.filter(({ action }) => action === 4).map(({ flags }) => flags)).toEqual([32, 160, 32])
    expect(Number(rows.at(-1)!.flags) & 128).toBe(128)
  })
})

const pairsOf = (levels: Levels) => levels.map((side) => side.map(({ px, sz }) => [Number(px), Number(sz)]))
const numbersOf = (sides: readonly (readonly (readonly number[])[])[]) =>
  sides.map((side) => side.toSorted(([a], [b]) => a! - b!))

/** Loads the data as hftbacktest does, validates the order of its events, and folds its books. */
const FOLD = `
import json, sys
import numpy as np
data = np.load(sys.argv[1])['data']
event = np.dtype([('ev', 'u8'), ('exch_ts', 'i8'), ('local_ts', 'i8'), ('px', 'f8'), ('qty', 'f8'), ('order_id', 'u8'), ('ival', 'i8'), ('fval', 'f8')], align=True)
assert data.dtype == event and data.dtype.itemsize == 64, data.dtype
for flag, name in ((1 << 31, 'exch_ts'), (1 << 30, 'local_ts')):
    assert (data['ev'] & flag == flag).all()
    assert (np.diff(data[name]) >= 0).all()
sides, trades = [{}, {}], 0
for ev, px, qty in zip(data['ev'].tolist(), data['px'].tolist(), data['qty'].tolist()):
    kind, side = ev & 0xff, 0 if ev & (1 << 29) else 1
    if kind == 3: sides = [{}, {}]
    elif kind == 2: trades += 1
    elif qty == 0: sides[side].pop(px, None)
    else: sides[side][px] = qty
print(json.dumps({'sides': [sorted(side.items()) for side in sides], 'trades': trades, 'rows': len(data)}))
`
const hasNumPy = spawnSync('python3', ['-c', 'import numpy']).status === 0
if (!hasNumPy) console.log('NumPy is skipped: python3 has no numpy')

it.skipIf(!hasNumPy)('NumPy loads the archive for hftbacktest, and folds it to the book of the last block', () => {
  const path = join(folder.path, 'hftbacktest/BTC/2026-11-28.npz')
  const { stdout, stderr } = spawnSync('python3', ['-c', FOLD, path], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const { sides, trades } = JSON.parse(stdout)
  expect(sides).toEqual(numbersOf(pairsOf(truth)))
  const known = blocks.filter(({ height }) => (height >= 400 && height < 420) || (height >= 450 && height <= LAST))
  expect(trades).toBe(known.reduce((sum, block) => sum + block.trades.length, 0))
})
