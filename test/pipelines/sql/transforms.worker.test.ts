// SQL over a batch, in workerd: what it may not do, and what comes of it.

import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Column } from '../../../src/archive/files/columns.ts'
import { transformedRows } from '../../../src/pipelines/sink/transformed-rows.ts'
import { checkTransforms, runTransforms } from '../../../src/pipelines/sql/transforms.client.ts'
import { bookDiffs } from '../../../src/pipelines/topics/book-diffs.ts'
import { candles } from '../../../src/pipelines/topics/candles.ts'
import { fills } from '../../../src/pipelines/topics/events.ts'
import { gapRow, keyedRows } from '../../../src/pipelines/topics/topic.ts'

const block = { height: 7, time: 490 }
const rows = [
  gapRow(5, 6, 420, 'lost'),
  ...keyedRows(
    block,
    ['BTC', 'ETH', 'BTC'].map((coin, at) => [`${at}`, { coin, px: `${at}.5`, crossed: at === 1, other: { a: [at] } }]),
  ),
]
const batch = { rows, texts: rows.map((row) => JSON.stringify(row)), id: 'pipe_a:5-7' }
const TABLE = { name: 'fills', columns: fills.columns }
const DEFAULTS = { id: batch.id, height: 7, time: 490 }
const dataOf = (texts: readonly string[]) => `[${texts.join(',')}]`
const run = async (transforms: Record<string, string>) => {
  const { outcome } = await runTransforms(transforms, TABLE, dataOf(batch.texts.slice(1)), DEFAULTS)
  if (!outcome.ok) return outcome.error
  const made = transformedRows(batch, outcome.value, batch.id)
  return made.ok ? made.value.rows : made.error
}
const checked = async (transforms: Record<string, string>, tables = [TABLE]) =>
  (await checkTransforms(transforms, tables)).outcome

// As on the platform, where clocks stand still during execution. A slow machine would reach the time limit first.
beforeEach(() => {
  const nowMs = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(nowMs)
  return () => clock.mockRestore()
})

describe('transforms', () => {
  it('keep a column of any name, even if it is NULL', async () => {
    const made = await run({ out: 'SELECT _key, NULL AS toString, NULL AS constructor FROM fills LIMIT 1' })
    expect(JSON.stringify(made)).toContain('"toString":null,"constructor":null')
  })

  // PIPE-17
  it('select from the batch and earlier transforms, and the last result is delivered', async () => {
    const made = await run({
      btc: `SELECT * FROM fills WHERE coin = 'BTC'`,
      out: `SELECT _key, _height, _time, coin, px, other ->> '$.a[0]' AS a FROM btc -- as it is`,
    })
    const own = (at: number) => ({
      _kind: 'row',
      _key: `7:${at}`,
      _height: 7,
      _time: 490,
      coin: 'BTC',
      px: `${at}.5`,
      a: at,
    })
    expect(made).toEqual([rows[0], own(0), own(2)])
  })

  // PIPE-5, PIPE-18
  it('select all of a batch for a file, which ends with the block in which it is full', async () => {
    const cells = Array.from({ length: 20_500 }, (_, at) => [`${at}`, { coin: 'BTC', px: `${at}.5` }] as const)
    const full = keyedRows(block, cells)
    const texts = full.map((row) => JSON.stringify(row))
    const { outcome } = await runTransforms({ all: 'SELECT * FROM fills' }, TABLE, dataOf(texts), DEFAULTS)
    expect(outcome.ok ? outcome.value.length : outcome.error).toBe(20_500)
  })

  it('that omit the key get one from the batch, the same at each attempt', async () => {
    const sums = { sums: 'SELECT coin, count(*) AS n, sum(crossed) AS taken FROM fills GROUP BY coin ORDER BY coin;' }
    const made = await run(sums)
    const head = (at: number) => ({ _kind: 'row', _key: `pipe_a:5-7:${at}`, _height: 7, _time: 490 })
    expect(made).toEqual([
      rows[0],
      { ...head(0), coin: 'BTC', n: 2, taken: 0 },
      { ...head(1), coin: 'ETH', n: 1, taken: 1 },
    ])
    expect(await run(sums)).toEqual(made)
  })

  const only = 'may only read the tables of the batch'
  const endless = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t)'
  const long = `WITH RECURSIVE l(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM l WHERE length(x) < 30000)`
  /** Each twice the one before, while it is planned. */
  const doubling = (depth: number) =>
    Array.from({ length: depth + 1 }, (_, at) =>
      at === 0 ? 't0 AS (SELECT 1 AS x)' : `t${at} AS (SELECT a.x FROM t${at - 1} a, t${at - 1} b)`,
    ).join(', ')
  // PIPE-18
  it.each<[string, string, RegExp | string]>([
    ['write', `INSERT INTO fills (coin) VALUES ('x')`, only],
    ['drop', 'DROP TABLE fills', only],
    ['attach', `ATTACH ':memory:' AS x`, only],
    ['set', 'PRAGMA max_page_count = 1', only],
    ['look around', 'SELECT * FROM sqlite_master', /may only read|prohibited/],
    ['look at settings', `SELECT * FROM pragma_table_info('fills')`, /may only read|prohibited/],
    ['begin', 'BEGIN', only],
    ['draw lots', 'SELECT random() FROM fills', /not authorized|may only read/],
    ['be two', 'SELECT 1; SELECT 2', 'must be a single SELECT'],
    ['hide a second', 'SELECT 1 AS a; DROP TABLE fills', /may only|must be a single/],
    ['be nothing', '-- nothing', 'must be a SELECT'],
    ['misspell', 'SELEC 1', /syntax error/],
    ['name what is not there', 'SELECT nobody FROM fills', 'no such column: nobody'],
    [
      'loop',
      `${endless} SELECT count(*) FROM t`,
      'exceeds the step or time limit. Select less, or limit the recursion',
    ],
    ['write long', `WITH RECURSIVE t(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM t) SELECT x FROM t`, /too big/],
    ['swell', 'SELECT hex(zeroblob(1000))', /not authorized/],
    [
      'hold too much',
      `${long} SELECT x || n AS x FROM l, (${endless} SELECT x AS n FROM t LIMIT 3000) ORDER BY 1`,
      /memory/,
    ],
    ['search at length', `SELECT instr(coin, 'B') FROM fills`, /not authorized/],
    ['trim at length', `SELECT trim(coin, 'B') FROM fills`, /not authorized/],
    [
      'compare at length',
      `SELECT 'a' LIKE ('%' || substr(_key || '${'b'.repeat(300)}', 1, 200)) AS x FROM fills`,
      /pattern/,
    ],
    ['ask the time', 'SELECT current_timestamp', /not authorized/],
    ...[
      `date('now')`,
      `time('now')`,
      `datetime('now')`,
      'julianday()',
      'unixepoch()',
      `strftime('%s')`,
      `timediff('now', 0)`,
    ].map((call): [string, string, RegExp | string] => [`ask for ${call}`, `SELECT ${call}`, /not authorized/]),
    [
      'name at length',
      `SELECT 1 AS ${'n'.repeat(129)}`,
      'has a column name longer than 128 characters. Shorten it with AS',
    ],
    [
      'bring many names',
      `${endless} SELECT ${Array.from({ length: 10 }, (_, at) => `x AS ${'n'.repeat(110)}${at}`).join(', ')} FROM t LIMIT 9000`,
      'returns more than 8,388,608 characters for a batch',
    ],
    [
      'bring what JSON escapes',
      `${long} SELECT replaced FROM (SELECT group_concat(char(1), '') AS replaced FROM (${endless} SELECT x FROM t LIMIT 60000)), (${endless} SELECT x FROM t LIMIT 30)`,
      'returns more than 8,388,608 characters for a batch',
    ],
    [
      'bring one text many times in a row',
      `SELECT ${Array.from({ length: 200 }, (_, at) => `x AS c${at}`).join(', ')} FROM (SELECT group_concat('aaaaaaaaaaaaaaaa', '') AS x FROM (${endless} SELECT x FROM t LIMIT 4000))`,
      'returns more than 8,388,608 characters for a batch',
    ],
    ['multiply itself', `WITH ${doubling(26)} SELECT count(*) FROM t26`, /memory|steps|tables|references/],
    ['bring too many', `${endless} SELECT x FROM t LIMIT 100000`, 'returns more than 30,000 rows for a batch'],
  ])('may not %s', async (_, sql, message) => {
    expect(await run({ good: 'SELECT * FROM fills', bad: sql })).toMatchObject({
      name: 'bad',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
    // Whoever comes next is served as ever.
    expect(await run({ n: 'SELECT count(*) AS n FROM fills' })).toMatchObject([{}, { n: 3 }])
  })

  // PIPE-18
  it('are stopped at a time limit if clocks advance during execution', async () => {
    const counting = { n: `${endless} SELECT count(*) AS n FROM (SELECT x FROM t LIMIT 50000)` }
    expect(await run(counting)).toMatchObject([{}, { n: 50_000 }])
    let nowMs = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
      nowMs += 500
      return nowMs
    })
    try {
      expect(await run(counting)).toMatchObject({ name: 'n', over: 'time' })
    } finally {
      clock.mockRestore()
    }
  })

  // PIPE-18
  it('are checked more often if strings are long', async () => {
    const looksOf = async (topic: string, columns: readonly Column[]) => {
      const clock = vi.spyOn(Date, 'now')
      try {
        const sql = { n: `${endless} SELECT count(*) AS n FROM (SELECT x FROM t LIMIT 5000)` }
        await runTransforms(sql, { name: topic, columns }, dataOf(batch.texts.slice(1)), DEFAULTS)
        return clock.mock.calls.length
      } finally {
        clock.mockRestore()
      }
    }
    const short = await looksOf('fills', fills.columns)
    expect(await looksOf('book_diffs', bookDiffs.columns)).toBeGreaterThan(5 * short)
  })

  it('are not run by a check', async () => {
    const busy = `${endless} SELECT count(*) AS n FROM t`
    for (const first of [busy, `SELECT n FROM (${busy}) ORDER BY n -- all`, `${busy} UNION SELECT 1;`])
      expect(await checked({ first, b: 'SELECT n FROM first' })).toEqual({ ok: true, value: [] })
  })

  it('are checked without rows, against the existing tables', async () => {
    const two = [TABLE, { name: 'candles', columns: candles.columns }]
    expect(
      (await checked({ a: 'SELECT * FROM fills', b: 'SELECT coin FROM a JOIN candles USING (coin)' }, two)).ok,
    ).toBe(true)
    expect(await checked({ a: 'SELECT * FROM fills', b: 'SELECT nobody FROM a' })).toEqual({
      ok: false,
      error: { name: 'b', message: 'no such column: nobody' },
    })
    expect(await checked({ a: 'SELECT * FROM candles' })).toMatchObject({
      error: { name: 'a', message: 'no such table: candles' },
    })
    expect(await checked({ a: 'DELETE FROM fills' })).toMatchObject({ ok: false, error: { name: 'a' } })
    expect((await checked({ fills: 'SELECT 1 AS one', b: 'SELECT 1 AS two' })).ok).toBe(false)
  })

  // PIPE-31
  it('cannot return a reserved column, but intermediate results may contain one', async () => {
    for (const name of ['_from', '_reason', '_epoch', '_KIND', '_', '__proto__', '_key '])
      expect(await checked({ out: `SELECT 1 AS "${name}"` })).toMatchObject({
        error: {
          name: 'out',
          message: expect.stringMatching(/^has a column .*: names starting with "_" are reserved/),
        },
      })
    expect(await checked({ a: 'SELECT _key AS _own FROM fills', out: 'SELECT _own AS own FROM a' })).toMatchObject({
      ok: true,
    })
    expect(await checked({ out: 'SELECT _kind, _key, _height, _time, coin FROM fills' })).toMatchObject({ ok: true })
    expect(await run({ out: `SELECT 'gap' AS _kind FROM fills` })).toMatch(/^_kind is "gap"/)
  })

  // PIPE-18
  it('report which limit they exceeded', async () => {
    const over = async (sql: string) => (await runTransforms({ out: sql }, TABLE, '[]', DEFAULTS)).outcome
    expect(await over(`${endless} SELECT count(*) AS n FROM t`)).toMatchObject({
      error: { over: expect.stringMatching(/steps|time/) },
    })
    expect(
      await over(`${long} SELECT x || n AS x FROM l, (${endless} SELECT x AS n FROM t LIMIT 3000) ORDER BY 1`),
    ).toMatchObject({
      error: { over: 'memory' },
    })
    expect(await over('SELECT nobody')).toEqual({
      ok: false,
      error: { name: 'out', message: 'no such column: nobody' },
    })
  })
})
