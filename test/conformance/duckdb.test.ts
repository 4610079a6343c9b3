// DuckDB over the archive's tables, compared with our reader, and the example of the documentation.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Cell,
  type Column,
  FILL_COLUMNS,
  fillCells,
  LEDGER_COLUMNS,
  ledgerCells,
} from '../../src/archive/files/columns.ts'
import { exportSql } from '../../src/http/mcp/history-tools.ts'
import { FIRST_PAGE } from '../../src/http/mcp/page-cursor.ts'
import type { LedgerEvent, UserFill } from '../../src/protocol/feed/block.ts'
import type { OwnerScope } from '../../src/protocol/feed/durable-api.ts'
import { FilesWorker } from '../bench/files-worker.node.ts'
import { addressOf, inventedFill } from '../bench/invented-fills.ts'
import { type DuckDb, missingDuckDb, openDuckDb } from '../duckdb/duckdb.ts'
import { scratch } from '../kit/program.ts'

/** As the example has them. */
const CHAIN = 'hyperliquid'
const START_MS = Date.UTC(2026, 10, 23)
const USER = `0x${'1'.repeat(40)}`
const USERS = [USER, addressOf(2), addressOf(3)]
const HOUR_MS = 3_600_000
const CEILING_MS = 300_000
/** A block each half hour of two days, and of the next, with which both are whole. */
const BLOCKS = 100
const OBJECT_BYTES = 6_000
const EXAMPLE = /```sql\n([\s\S]*?)```/.exec(readFileSync('docs/operators/guides/keep-an-archive.md', 'utf8'))?.[1]

const timeOf = (height: number) => START_MS + (height * HOUR_MS) / 2
const missing = missingDuckDb()
if (missing !== null) console.log(`DuckDB is skipped: ${missing}`)

/** Digits that no float has, and fields that not all fills have. */
const ODD: readonly Partial<Record<keyof UserFill[1] | 'liquidation', unknown>>[] = [
  { px: '0.10', sz: '123456789012345.12345678', closedPnl: '-90071992547409.930001' },
  {
    cloid: '0x00000000000000000000000000000001',
    closedPnl: '0.000001',
    twapId: 7,
    builder: USERS[2],
    builderFee: '0.1',
  },
  {
    cloid: null,
    liquidation: { liquidatedUser: USERS[1], markPx: '0.5', method: 'market' },
    feeToken: 'flx:"\t\u{1f600}',
  },
]

/** Each user's position changes by these sizes in every block, within one millisecond. */
const STEPS = [1, -2, 1.5]
const CHAINED = 'CHAINED'

/** Fills of which each begins where the one before ended. */
function chainedFills(user: string, height: number): UserFill[] {
  const [, fill] = inventedFill(user, 10 * height, timeOf(height))
  let position = height * STEPS.reduce((sum, step) => sum + step)
  return STEPS.map((step) => {
    const startPosition = position.toFixed(1)
    position += step
    const side = step > 0 ? 'B' : 'A'
    return [user, { ...fill, coin: CHAINED, side, sz: Math.abs(step).toFixed(1), startPosition }]
  })
}

function blockAt(height: number) {
  const own = USERS.flatMap((user, at): UserFill[] => {
    if ((height + at) % 3 === 2) return []
    const [, fill] = inventedFill(user, 10 * height + at, timeOf(height))
    return [[user, { ...fill, ...ODD[(height + at) % 4] } as UserFill[1]]]
  })
  const chained = USERS.map((user) => chainedFills(user, height))
  // The users' fills alternate, as in a block of the exchange.
  const fills = [...own, ...STEPS.flatMap((_, at) => chained.map((each) => each[at]!))]
  const ledger: LedgerEvent[] =
    height % 9 === 0
      ? [{ users: [USER, USERS[1]!], time: timeOf(height), hash: '0x1', delta: { type: 'send', amount: '1.50' } }]
      : []
  return { height, time: timeOf(height), fills, ledger }
}

const blocks = Array.from({ length: BLOCKS }, (_, height) => blockAt(height))

describe.skipIf(missing !== null)('DuckDB', () => {
  const folder = scratch()
  let worker: FilesWorker
  let duckDb: DuckDb
  beforeAll(async () => {
    worker = await FilesWorker.start(CHAIN, OBJECT_BYTES)
    for (const { height, time, ...rest } of blocks) {
      const line = JSON.stringify({ epoch: 'a', v: 1, t: 'events', height, time, ...rest })
      await worker.archive({ first: height, last: height, firstMs: time, lastMs: time, events: [line] })
    }
    while ((await worker.turn()).isMore);
    for (const { key, bytes } of await worker.objects('.parquet')) {
      mkdirSync(dirname(join(folder.path, key)), { recursive: true })
      writeFileSync(join(folder.path, key), bytes)
    }
    duckDb = await openDuckDb(folder.path)
  }, CEILING_MS)
  afterAll(async () => {
    duckDb?.close()
    await worker?.stop()
    folder.remove()
  })

  const read = async (kind: 'fills' | 'ledger', scope: OwnerScope) =>
    (await worker.page({ kind, scope, order: 'oldest', limit: 1e6 })).blocks
  const within = (firstMs: number, endMs: number) => (row: Readonly<Record<string, unknown>>) =>
    Number(row.block_time) >= firstMs && Number(row.block_time) < endMs
  /** Of rows as they are in a table what our reader tells of them. */
  const rowOf = (columns: readonly Column[], cells: readonly Cell[]) =>
    Object.fromEntries(columns.map(({ name, type }, at) => [name, cellOf(type, cells[at]!)]))
  const toldBy = (columns: readonly Column[], rows: readonly Readonly<Record<string, unknown>>[]) =>
    rows.map((row) =>
      rowOf(
        columns,
        columns.map(({ name }) => row[name] as Cell),
      ),
    )

  it.each(['hour', 'day'] as const)(
    'reads of each user the fills and ledger events of a %s as our reader does',
    async (level) => {
      const all = `'files/${CHAIN}/${level}/*/*`
      const end = START_MS + 48 * HOUR_MS
      const isMine = level === 'day' ? within(START_MS, end) : within(START_MS, timeOf(BLOCKS - 2))
      for (const user of USERS) {
        const fills = (await read('fills', { by: 'user', address: user })).flatMap(({ height, time, fills: own }) =>
          own.map((fill) => rowOf(FILL_COLUMNS, fillCells({ height, time, rows: 1 }, fill))),
        )
        const ledger = (await read('ledger', { by: 'user', address: user })).flatMap(({ height, time, ledger: own }) =>
          own.map((event) => rowOf(LEDGER_COLUMNS, ledgerCells({ height, time, rows: 1 }, user, event))),
        )
        const ofUser = `WHERE user = '${user}' ORDER BY height, file_row_number`
        const told = await duckDb.ask(`SELECT * FROM ${all}.fills-by-user.parquet' ${ofUser}`)
        expect(toldBy(FILL_COLUMNS, told)).toEqual(fills.filter(isMine))
        // Field test T4
        const chained = told.filter(({ coin }) => coin === CHAINED) as Readonly<Record<string, string>>[]
        const ends = chained.map(
          ({ start_position: start, side, sz }) => Number(start) + Number(side === 'B' ? sz : `-${sz}`),
        )
        expect(chained.slice(1).map(({ start_position: start }) => Number(start))).toEqual(ends.slice(0, -1))
        const events = await duckDb.ask(`SELECT * FROM ${all}.ledger-by-user.parquet' ${ofUser}`)
        expect(toldBy(LEDGER_COLUMNS, events)).toEqual(ledger.filter(isMine))
        expect(told.length).toBeGreaterThan(50)
      }
    },
  )

  it('reads all fills in the order of the chain', async () => {
    const told = await duckDb.ask(
      `SELECT * FROM 'files/${CHAIN}/hour/*/*.fills-by-time.parquet' ORDER BY filename, file_row_number`,
    )
    const fills = blocks.flatMap(({ height, time, fills: own }) =>
      own.map((fill) => rowOf(FILL_COLUMNS, fillCells({ height, time, rows: 1 }, fill))),
    )
    expect(toldBy(FILL_COLUMNS, told)).toEqual(fills.filter(within(START_MS, timeOf(BLOCKS - 2))))
  })

  it('runs the commands of the MCP tool export_sql: each fill is loaded once', async () => {
    const range = /\/(\d{12})-(\d{12})\.\d{4}\.fills-by-time\.parquet$/
    const files = (await worker.objects('.parquet')).flatMap(({ key, bytes }) => {
      const [, from, to] = range.exec(key)?.map(Number) ?? []
      if (from === undefined || to === undefined) return []
      const times = { from_ms: timeOf(from), to_ms: timeOf(to) }
      return [{ key, bytes: bytes.length, from_height: from, to_height: to, ...times, link: `/${key}?sig=a'b` }]
    })
    expect(files.length).toBeGreaterThan(1)
    const call = { chain: CHAIN, origin: 'https://weir.example', nowMs: START_MS, page: FIRST_PAGE }
    const page = { body: { files, next: null, expires_ms: START_MS, credits: '1' }, nextCursor: null }
    const shaped = exportSql.result([page], { product: 'fills_by_time' }, call)
    const commands = shaped.ok ? (shaped.value.list?.rows as { sql: string }[]) : []
    // DuckDB reads the files of this machine instead of the links.
    for (const { sql } of commands) await duckDb.ask(sql.replace(/'https:\/\/weir\.example\/(.*)\?sig=a''b'/, "'$1'"))
    const [told] = await duckDb.ask('SELECT count(*) AS rows, count(DISTINCT height) AS heights FROM fills_by_time')
    const kept = blocks.filter(({ height }) =>
      files.some((file) => file.from_height <= height && height <= file.to_height),
    )
    const rows = kept.reduce((sum, { fills }) => sum + fills.length, 0)
    expect([Number(told?.rows), Number(told?.heights)]).toEqual([rows, kept.length])
  })

  it('runs the documented example exactly', async () => {
    const told = await duckDb.ask(EXAMPLE!)
    const sums = new Map<string, { fills: bigint; units: bigint }>()
    for (const { time, fills } of blocks)
      for (const [user, { coin, closedPnl }] of fills) {
        if (user !== USER || time >= START_MS + 24 * HOUR_MS) continue
        const { fills: count, units } = sums.get(coin) ?? { fills: 0n, units: 0n }
        sums.set(coin, { fills: count + 1n, units: units + unitsOf(closedPnl) })
      }
    const rows = told.map(({ coin, fills, pnl }) => [coin, { fills, units: unitsOf(String(pnl)) }] as const)
    expect(rows.length).toBeGreaterThan(3)
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(sums))
  })
})

/** As DuckDB gives it. */
function cellOf(type: Column['type'], cell: Cell | bigint): unknown {
  if (cell === null || cell === undefined) return null
  if (typeof cell === 'object' && 'micros' in cell) return Number(cell.micros) / 1000
  if (type === 'whole') return Number(cell)
  if (type === 'json') return typeof cell === 'string' ? (JSON.parse(cell) as unknown) : cell
  return cell
}

/** Millionths. */
function unitsOf(amount: string): bigint {
  const [, sign, whole, digits = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount)!
  const units = BigInt(whole!) * 1_000_000n + BigInt(digits.padEnd(6, '0'))
  return sign === '-' ? -units : units
}
