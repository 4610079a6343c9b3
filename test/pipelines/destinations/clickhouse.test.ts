// A real ClickHouse, where the machine has one (Debian's is of 2018, and knows neither tokens nor most settings): rows of every
// topic, what types make of them, and what goes wrong. What newer ones are sent stands in destinations.test.ts.

import { connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Column, ColumnType } from '../../../src/archive/files/columns.ts'
import type { Batch } from '../../../src/pipelines/destinations/batch.ts'
import {
  ClickHouseTables,
  insertLines,
  sendToClickHouse,
} from '../../../src/pipelines/destinations/clickhouse.client.ts'
import { TOPIC_COLUMNS } from '../../../src/pipelines/topics/catalogue.ts'
import {
  gapRow,
  HEAD_COLUMNS,
  keyedRows,
  NOTE_COLUMNS,
  type Row,
  resetRow,
} from '../../../src/pipelines/topics/topic.ts'
import { egressOf } from '../../core/egress-of.ts'
import { type ClickHouseServer, hasClickHouse, PASSWORD, startClickHouse, USER } from './clickhouse-server.ts'

if (!hasClickHouse) console.log("ClickHouse is skipped: Debian's package clickhouse-server is not installed")

const open = egressOf({ PIPELINE_PRIVATE: true })
const batchOf = (rows: readonly Row[], topic = 'fills'): Batch => ({
  id: 'pipe_a:1-7',
  pipeline: 'pipe_a',
  topic,
  from: 1,
  to: 7,
  rows,
  columns: null,
  texts: rows.map((row) => JSON.stringify(row)),
})
const SAMPLES: Readonly<Record<ColumnType, unknown>> = {
  text: '1.50',
  whole: 2 ** 53 - 1,
  time: 1_764_000_000_000,
  truth: true,
  json: [{ px: '1', n: [1, null] }],
}
const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'String',
  whole: 'Int64',
  time: 'Int64',
  truth: 'UInt8',
  json: 'String',
}

describe('rows for the columns of a table', () => {
  const rows = keyedRows({ height: 7, time: 490 }, [
    [
      'a',
      { px: '1.50', size: '-3', is_it: true, list: [1, { a: 'ü' }], none: null, half: '\ud800', words: 'x', extra: 1 },
    ],
  ])
  const lines = (types: Record<string, string>) =>
    insertLines(rows, new Map(Object.entries({ _key: 'String', ...types }))).trim()

  it.each([
    [{}, '{"_key":"7:a"}'],
    [{ px: 'Decimal(38, 10)', size: 'Nullable(Decimal(9, 2))' }, '{"_key":"7:a","px":1.50,"size":-3}'],
    [{ px: 'LowCardinality(Nullable(String))', size: 'Float64' }, '{"_key":"7:a","px":"1.50","size":"-3"}'],
    [{ words: 'Decimal(9, 2)' }, '{"_key":"7:a","words":"x"}'],
    [{ is_it: 'UInt8' }, '{"_key":"7:a","is_it":1}'],
    [{ is_it: 'Nullable(Bool)' }, '{"_key":"7:a","is_it":true}'],
    [{ is_it: 'String' }, '{"_key":"7:a","is_it":"true"}'],
    [{ list: 'String' }, '{"_key":"7:a","list":"[1,{\\"a\\":\\"ü\\"}]"}'],
    [{ list: 'JSON' }, '{"_key":"7:a","list":[1,{"a":"ü"}]}'],
    [{ none: 'Int64' }, '{"_key":"7:a"}'],
    [{ none: 'Nullable(Int64)' }, '{"_key":"7:a","none":null}'],
    [{ none: 'LowCardinality(Nullable(String))' }, '{"_key":"7:a","none":null}'],
    [{ half: 'String' }, '{"_key":"7:a","half":"\ufffd"}'],
  ])('of %j are %s, each time', (types, line) => {
    expect(lines(types)).toBe(line)
    expect(lines(types)).toBe(line)
  })
})

describe.skipIf(!hasClickHouse)('a table of ClickHouse', () => {
  let server: ClickHouseServer
  let tables = new ClickHouseTables()
  const send = (rows: readonly Row[], over: object = {}, batch = batchOf(rows)) => {
    const own = { url: server.url, user: USER, password: PASSWORD, database: 'default', table: 'fills' }
    return sendToClickHouse({ type: 'clickhouse', ...own, ...over }, batch, open, tables)
  }
  beforeAll(async () => {
    server = await startClickHouse()
  }, 60_000)
  afterAll(() => server.remove())

  it.each([...TOPIC_COLUMNS])('takes rows of %s once by their key, however often they come', async (topic, columns) => {
    tables = new ClickHouseTables()
    const all = [...HEAD_COLUMNS, ...columns, ...NOTE_COLUMNS]
    const typeOf = ({ name, type, isOptional }: Column) =>
      isOptional && name !== '_key' ? `Nullable(${TYPES[type]})` : TYPES[type]
    const named = all.map((column) => `"${column.name}" ${typeOf(column)}`).join(', ')
    await server.query(`CREATE TABLE of_${topic} (${named}) ENGINE = ReplacingMergeTree ORDER BY _key`)
    const cells = Object.fromEntries(columns.map(({ name, type }) => [name, SAMPLES[type]]))
    const rows = [
      gapRow(1, 2, 140, 'lost'),
      resetRow(3, 210, 'e', columns.some(({ name }) => name === 'coin') ? 'BTC' : null),
      ...keyedRows({ height: 7, time: 490 }, [
        ['a', cells],
        ['b', { ...cells, [columns[0]!.name]: null }],
      ]),
    ]
    for (const _ of [1, 2]) expect(await send(rows, { table: `of_${topic}` })).toMatchObject({ ok: true })
    const found = await server.query(`SELECT * FROM of_${topic} FINAL ORDER BY _height, _key FORMAT JSONEachRow`)
    expect(found.map((line) => JSON.parse(line)._key)).toEqual(rows.map(({ _key }) => _key))
    const row = JSON.parse(found[2]!)
    for (const { name, type } of columns) {
      const wanted = { json: JSON.stringify(SAMPLES.json), truth: 1, text: '1.50' } as Record<string, unknown>
      expect([name, row[name]]).toEqual([name, wanted[type] ?? String(SAMPLES[type])])
    }
  })

  it('has decimals, whole numbers and nothing exactly, in whatever columns it has', async () => {
    tables = new ClickHouseTables()
    await server.query(
      `CREATE TABLE fills (_key String, px Decimal(38, 10), px_text String, sz Nullable(Decimal(18, 4)), big Int64, huge UInt64,
       crossed UInt8, coin String, note Nullable(String), made Int64 MATERIALIZED 5) ENGINE = ReplacingMergeTree ORDER BY _key`,
    )
    const coin = 'it\'s \u0000 "x" \\ — 😀 /'
    const full = { px: '81307.0000000001', px_text: '81307.0', sz: '-0.5', big: '-9007199254740993', note: null }
    const rows = keyedRows({ height: 7, time: 490 }, [
      ['a', { ...full, huge: '18446744073709551615', crossed: true, coin, nowhere: { a: 1 }, made: 7 }],
      ['b', { px: null, sz: null, crossed: false, coin: { b: [1, { c: null }] }, big: 9_007_199_254_740_991 }],
    ])
    expect(await send(rows)).toMatchObject({ ok: true })
    const lines = await server.query('SELECT *, made FROM fills ORDER BY _key FORMAT JSONEachRow')
    const texts = await server.query(
      `SELECT _key, toString(px), px_text, toString(sz), toString(big), toString(huge), crossed, note FROM fills ORDER BY _key`,
    )
    expect(texts).toEqual([
      '7:a\t81307.0000000001\t81307.0\t-0.5000\t-9007199254740993\t18446744073709551615\t1\t\\N',
      '7:b\t0.0000000000\t\t\\N\t9007199254740991\t0\t0\t\\N',
    ])
    const [first, second] = lines.map((line) => JSON.parse(line))
    expect([first.coin, second.coin, first.made]).toEqual([coin, '{"b":[1,{"c":null}]}', '5'])
  })

  it('takes as many rows as a batch has, and is asked anew once it refused one', async () => {
    await server.query('CREATE TABLE many (_key String, px Decimal(18, 2)) ENGINE = ReplacingMergeTree ORDER BY _key')
    const cells = (at: number) => [`${at}`, { px: `${at}`, coin: 'x'.repeat(700) }] as const
    const rows = keyedRows(
      { height: 8, time: 560 },
      Array.from({ length: 6_000 }, (_, at) => cells(at)),
    )
    expect(await send(rows, { table: 'default.many', database: 'elsewhere' })).toMatchObject({ ok: true })
    await server.query('ALTER TABLE many ADD COLUMN coin String')
    await server.query('ALTER TABLE many DROP COLUMN px')
    const refused = {
      ok: false,
      message: expect.stringContaining('Unknown field found while parsing JSONEachRow format: px'),
    }
    expect(await send(rows, { table: 'default.many', database: 'elsewhere' })).toEqual(refused)
    expect(await send(rows, { table: 'default.many', database: 'elsewhere' })).toMatchObject({ ok: true })
    const [sums] = await server.query('SELECT count(), sum(length(coin)) FROM many FINAL')
    expect(sums).toBe('6000\t4200000')
  })

  it.each([
    [{ password: 'wrong' }, / 401: Code: 193, .*Wrong password for user weir/],
    [{ user: 'nobody' }, / 40\d: Code: 192, /],
    [{ table: 'nothing' }, /default\.nothing.*: CREATE TABLE IF NOT EXISTS `default`\.`nothing` \(/],
    [{ table: 'strange' }, /default\.strange/],
    [{ table: 'narrow' }, / 500: Code: 27, .*Cannot parse input/],
    [{ url: 'http://127.0.0.1:1' }, /could not be reached$/],
  ])('that cannot take it says why: %j', async (over, words) => {
    await server.query('CREATE TABLE IF NOT EXISTS strange (x Int64) ENGINE = Memory')
    await server.query('CREATE TABLE IF NOT EXISTS narrow (_key String, coin Int64) ENGINE = Memory')
    const rows = keyedRows({ height: 7, time: 490 }, [['a', { coin: 'BTC' }]])
    expect(await send(rows, over)).toEqual({ ok: false, message: expect.stringMatching(words) })
  })

  it.each([...TOPIC_COLUMNS])(
    'is created for rows of %s where that is wanted, and takes a batch once',
    async (topic, columns) => {
      tables = new ClickHouseTables()
      const cells = Object.fromEntries(columns.map(({ name, type }) => [name, SAMPLES[type]]))
      const rows = [gapRow(1, 2, 140, 'lost'), ...keyedRows({ height: 7, time: 490 }, [['a', cells]])]
      const own = { ...batchOf(rows, topic), columns }
      const over = { table: `made_${topic}`, create_table: true }
      for (const _ of [1, 2]) expect(await send(rows, over, own)).toMatchObject({ ok: true })
      expect(await server.query(`SELECT count() FROM made_${topic} FINAL`)).toEqual(['2'])
    },
  )

  it('gains the columns that a transform selects', async () => {
    const over = { table: 'selected', create_table: true }
    const rows = (cells: object) => keyedRows({ height: 7, time: 490 }, [[JSON.stringify(cells), { ...cells }]])
    expect(await send(rows({ ntl: 1 }), over)).toMatchObject({ ok: true })
    expect(await send(rows({ ntl: 1.5, 'odd `name': 'x' }), over)).toMatchObject({ ok: true })
    expect(await server.query('SELECT ntl, `odd \\`name` FROM selected ORDER BY ntl')).toEqual(['1\t\\N', '1.5\tx'])
  })

  it('has all rows once after it was killed amid an insert', async () => {
    await server.query('CREATE TABLE killed (_key String, words String) ENGINE = ReplacingMergeTree ORDER BY _key')
    const cells = (at: number) => [`${at}`, { words: 'x'.repeat(700) }] as const
    const rows = keyedRows(
      { height: 9, time: 630 },
      Array.from({ length: 6_000 }, (_, at) => cells(at)),
    )
    const between = await killing(server, 1024 * 1024)
    const url = `http://127.0.0.1:${(between.address() as { port: number }).port}`
    expect(await send(rows, { url, table: 'killed' })).toEqual({
      ok: false,
      message: expect.stringContaining('could not be reached'),
    })
    between.close()
    await server.start()
    expect(await send(rows, { table: 'killed' })).toMatchObject({ ok: true })
    expect(await server.query('SELECT count() FROM killed FINAL')).toEqual(['6000'])
  }, 60_000)
})

/** Hands on what comes, and kills the server once so many bytes have come. */
async function killing(server: ClickHouseServer, bytes: number): Promise<Server> {
  const { port } = new URL(server.url)
  let left = bytes
  const between = createServer((socket) => {
    const behind = connect(Number(port), '127.0.0.1')
    for (const [from, to] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.pipe(to)
    }
    socket.on('data', ({ length }) => {
      if (left > 0 && left <= length) void server.kill()
      left -= length
    })
  })
  await new Promise<void>((done) => between.listen(0, '127.0.0.1', done))
  return between
}
