// Measures how long it takes to read a page of the newest 2,000 fills from ten days and from a hundred days, for
// users with few fills, some every day, a fifth of all, and none. The results are compared with one D1 query plus
// one R2 read, with SQLite clustered by user, and with DuckDB on our own tables.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { type DuckDb, missingDuckDb, openDuckDb } from '../duckdb/duckdb.ts'
import { scratch } from '../kit/program.ts'
import { type Spread, spreadOf } from '../kit/statistics.ts'
import type { PageOrder, PageRead, PartOrder } from './counted/files-bench.ts'
import { FilesWorker } from './files-worker.node.ts'
import {
  BUILDER,
  DAYS,
  dayAt,
  fillsOfDay,
  fillsOfMonth,
  indexOfMonth,
  type KeyedFill,
  MONTHS,
  monthAt,
  PEOPLE,
} from './invented-month.ts'
import { type Line, ms, times, whole } from './table.ts'

const CHAIN = 'bench'
/** Of a part: some 6 MiB of pages. */
const PART_ROWS = 60_000
const ROWS_A_TURN = 500
const READS = { few: 50, many: 200 }
const LIMIT = 2_000

export interface HistoryPages {
  readonly lines: readonly Line[]
  /** Of a row in pages. */
  readonly rowBytes: number
}

export async function historyPages(quick: boolean, say: (text: string) => void): Promise<HistoryPages> {
  const folder = scratch().path
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const worker = await FilesWorker.start(CHAIN)
  const clustered = new ClusteredFills(join(folder, 'clustered.db'))
  try {
    const written = new Written(worker, clustered, folder)
    for (let day = 0; day < (quick ? 2 : DAYS); day++)
      await written.file({ level: 2, file: dayAt(day) }, fillsOfDay(day, quick ? 0.05 : 1))
    say(`${whole(written.rows)} rows of users and of a builder are written`)
    const lines = [...(await beside(folder, clustered)), ...(await pages(worker, clustered, `${DAYS} days`))]
    const { rows, bytes } = written
    for (let month = 0; month < MONTHS; month++) {
      await written.file({ level: 3, file: monthAt(month) }, fillsOfMonth(month))
      await worker.execute(indexOfMonth(CHAIN, month))
    }
    lines.push(...(await pages(worker, clustered, '100 days')))
    return { lines, rowBytes: bytes / rows }
  } finally {
    clustered.close()
    await worker.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Writes rows everywhere: while one part is made into pages and a table the next is thought of. */
class Written {
  rows = 0
  bytes = 0
  readonly #worker: FilesWorker
  readonly #clustered: ClusteredFills
  readonly #folder: string

  constructor(worker: FilesWorker, clustered: ClusteredFills, folder: string) {
    this.#worker = worker
    this.#clustered = clustered
    this.#folder = folder
  }

  async file(file: Pick<PartOrder, 'level' | 'file'>, fills: Iterator<KeyedFill>): Promise<void> {
    let some = await this.#some(fills)
    let number = 0
    let sent = Promise.resolve()
    while (some.length > 0) {
      const next = some.length < PART_ROWS ? [] : await this.#some(fills)
      await sent
      sent = this.#send({ ...file, number: number++, isLast: next.length === 0 }, some)
      this.#clustered.add(some.filter(({ key }) => key.startsWith('u:')).map(({ fill }) => fill))
      some = next
    }
    await sent
  }

  async #some(fills: Iterator<KeyedFill>): Promise<KeyedFill[]> {
    const some: KeyedFill[] = []
    for (let each = fills.next(); !each.done; each = fills.next()) {
      some.push(each.value)
      if (some.length >= PART_ROWS) break
      // What is being sent goes on.
      if (some.length % ROWS_A_TURN === 0) await setImmediate()
    }
    return some
  }

  async #send(order: PartOrder, some: readonly KeyedFill[]): Promise<void> {
    const lines = some.map(({ key, line }) => `${key}\t${line}`)
    const { pageBytes, table } = await this.#worker.part(order, lines)
    this.bytes += pageBytes
    this.rows += some.length
    if (table.length > 0) writeFileSync(join(this.#folder, `${order.file.first}-${order.number}.parquet`), table)
  }
}

async function beside(folder: string, clustered: ClusteredFills): Promise<Line[]> {
  const body = clustered.newest(PEOPLE.heavy)
  const lines = [
    lineOf(
      'the same of the heavy user in SQLite clustered by user',
      await often(READS.many, () => clustered.newest(PEOPLE.heavy)),
    ),
  ]
  const missing = missingDuckDb()
  if (missing !== null) return [...lines, { ...lineOf(`DuckDB is missing: ${missing}`, null) }]
  const duckDb = await openDuckDb(folder)
  try {
    await duckDb.ask('SET parquet_metadata_cache = true')
    const told = (await newestOf(duckDb, PEOPLE.heavy)).map(({ tid }) => Number(tid))
    same(told, body.tids, 'DuckDB')
    for (const name of ['heavy', 'quiet'] as const)
      lines.push(
        lineOf(
          `the same of the ${name} user in DuckDB over our tables`,
          await often(READS.few, async () => JSON.stringify(await newestOf(duckDb, PEOPLE[name]), textOfWhole)),
        ),
      )
    return lines
  } finally {
    duckDb.close()
  }
}

const newestOf = (duckDb: DuckDb, user: string) =>
  duckDb.ask(`SELECT * FROM '*.parquet' WHERE "user" = '${user}' ORDER BY height DESC LIMIT ${LIMIT}`)
const textOfWhole = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)

async function pages(worker: FilesWorker, clustered: ClusteredFills, depth: string): Promise<Line[]> {
  const bare = await often(READS.many, () => worker.bare())
  const lines: Line[] = []
  for (const [name, address] of Object.entries(PEOPLE)) {
    const order: PageOrder = { kind: 'fills', scope: { by: 'user', address }, order: 'newest', limit: LIMIT }
    const read = await worker.page(order)
    same(tidsOf(read), clustered.newest(address).tids, name)
    const spread = await often(READS.many, () => worker.page(order))
    lines.push(lineOf(`the newest fills of a ${name} user at ${depth} (${costOf(read)})`, spread, bare))
  }
  const order: PageOrder = { kind: 'fills', scope: { by: 'builder', address: BUILDER }, order: 'newest', limit: LIMIT }
  const read = await worker.page(order)
  const spread = await often(READS.many, () => worker.page(order))
  return [...lines, lineOf(`the newest fills of a builder with 2 million at ${depth} (${costOf(read)})`, spread, bare)]
}

const tidsOf = ({ blocks }: PageRead) => blocks.flatMap(({ fills }) => fills.map(([, { tid }]) => tid))

function same(told: readonly number[], known: readonly number[], who: string): void {
  if (told.join() !== known.join()) throw new Error(`${who}: ${told.length} rows are not the ${known.length} of SQLite`)
}

async function often(count: number, ask: () => unknown): Promise<Spread> {
  const samples = new Float64Array(count)
  for (let at = 0; at < count; at++) {
    const startMs = performance.now()
    await ask()
    samples[at] = performance.now() - startMs
  }
  return spreadOf(samples, count)
}

function costOf(read: PageRead): string {
  const of = (found: number, one: string) => `${whole(found)} ${one}${found === 1 ? '' : 's'}`
  const { questions, rowsRead, gets, bytesRead } = read
  return (
    `${of(tidsOf(read).length, 'row')}; ${of(questions, 'question')} to D1 with ${of(rowsRead, 'row')} read, ` +
    `${of(gets, 'read')} of R2 with ${whole(bytesRead / 1024)} KiB`
  )
}

const shown = (spread: Spread | null) => (spread ? `${ms(spread.p50)}, ${ms(spread.p99)}` : '–')

function lineOf(what: string, spread: Spread | null, bare: Spread | null = null): Line {
  const ratio = spread && bare ? times(spread.p50 / bare.p50) : ''
  return { what: `${what}, p50 and p99`, bare: shown(bare), weir: shown(spread), ratio }
}

// Fills in SQLite, clustered by their user: what a page of them costs a database that has them all.

const FIELDS = [
  ...['coin', 'px', 'sz', 'startPosition', 'side', 'dir', 'closedPnl', 'fee', 'feeToken', 'hash', 'oid', 'crossed'],
] as const
const COLUMNS = ['user', 'time', 'tid', ...FIELDS].join(', ')

class ClusteredFills {
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #newest: StatementSync

  constructor(path: string) {
    this.#db = new DatabaseSync(path)
    this.#db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
      CREATE TABLE fills (${COLUMNS}, PRIMARY KEY (user, time, tid)) WITHOUT ROWID`)
    this.#insert = this.#db.prepare(
      `INSERT INTO fills (${COLUMNS}) VALUES (${COLUMNS.split(', ')
        .map(() => '?')
        .join(', ')})`,
    )
    this.#newest = this.#db.prepare('SELECT * FROM fills WHERE user = ? ORDER BY time DESC, tid DESC LIMIT 2000')
  }

  add(fills: Iterable<UserFill>): void {
    this.#db.exec('BEGIN')
    for (const [user, fill] of fills) {
      const { time, tid, crossed, coin, px, sz, startPosition, side, dir, closedPnl, fee, feeToken, hash, oid } = fill
      const amounts = [coin, px, sz, startPosition, side, dir, closedPnl, fee, feeToken, hash, oid]
      this.#insert.run(user, time, tid, ...amounts, Number(crossed))
    }
    this.#db.exec('COMMIT')
  }

  /** The body of an answer, and how many rows it has. */
  newest(user: string): { readonly body: string; readonly tids: readonly number[] } {
    const rows = this.#newest.all(user)
    return { body: JSON.stringify(rows), tids: rows.map(({ tid }) => tid as number) }
  }

  close(): void {
    this.#db.close()
  }
}
