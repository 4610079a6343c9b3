// Writes tables as Parquet files. Invariants: the same rows produce the same bytes; only one row group is in memory.

import { constants, gzipSync } from 'node:zlib'
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { Coin } from '../../core/coin.ts'
import { YIELD_MS } from '../../core/time.ts'
import { sleep } from '../../core/timers.client.ts'
import type { Address, LedgerEvent, UserFill } from '../../protocol/feed/block.ts'
import { oracleRows } from '../../protocol/feed/oracle-updates.ts'
import { writerActions } from '../../protocol/feed/writer-actions.ts'
import type { TimeSpan } from '../candles.ts'
import { BASE_INTERVALS, type CandlePart, mergeParts, spanOf } from '../candles.ts'
import { candleCoinOf, partsOf } from './candle-lines.ts'
import {
  CANDLE_COLUMNS,
  type Cell,
  type Column,
  type ColumnType,
  candleCells,
  FILL_COLUMNS,
  FUNDING_COLUMNS,
  fillCells,
  fundingCells,
  LEDGER_COLUMNS,
  ledgerCells,
  ORACLE_COLUMNS,
  oracleCells,
  WRITER_COLUMNS,
  writerCells,
} from './columns.ts'
import {
  ALL_FILLS,
  ALL_ORACLE,
  ALL_WRITER,
  FUNDING_PREFIX,
  type FundingRow,
  headOf,
  type LineHead,
  rowsOf,
} from './rows.ts'
import type { Table, TableName } from './table.ts'

/**
 * gzip, because snappy does not compress hexadecimal hashes, which are half of a table's data. Short matches of their
 * digits cost more than the digits.
 */
const GZIP = (bytes: Uint8Array) => gzipSync(bytes, { strategy: constants.Z_FILTERED })
const CODEC = { codec: 'GZIP', compressors: { GZIP } } as const
/** Rows per group, about 140 KB, which take 30 ms at once. Readers can skip groups by user or by time. */
const GROUP_ROWS = 2_048

const TYPES: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  whole: { type: 'INT64' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  truth: { type: 'BOOLEAN' },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
}

export class Parquet {
  readonly #columns: readonly Column[]
  readonly #bytes = new ByteWriter()
  readonly #writer: ParquetWriter
  #cells: Cell[][]
  #rows = 0

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#cells = columns.map(() => [])
    const schema = columns.map(({ name, type, isOptional }): SchemaElement => {
      return { name, ...TYPES[type], repetition_type: isOptional ? 'OPTIONAL' : 'REQUIRED' }
    })
    const root = { name: 'root', num_children: columns.length }
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema: [root, ...schema], ...CODEC, createdBy: 'weir' })
  }

  add(cells: readonly Cell[]): void {
    for (const [at, column] of this.#cells.entries()) column.push(cells[at] ?? null)
    if (++this.#rows % GROUP_ROWS === 0) this.#flush()
  }

  get rows(): number {
    return this.#rows
  }

  finish(): Uint8Array {
    if (this.#rows % GROUP_ROWS > 0) this.#flush()
    this.#writer.finish()
    return new Uint8Array(this.#bytes.getBuffer())
  }

  #flush(): void {
    const columnData = this.#columns.map(({ name, type }, at): ColumnSource => {
      const cells = this.#cells[at] ?? []
      return {
        name,
        data: type === 'whole' ? cells.map((cell) => (cell === null ? null : BigInt(cell as number))) : cells,
      }
    })
    this.#writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    this.#cells = this.#columns.map(() => [])
  }
}

/**
 * Builds the tables from lines in key order: candles, fills by user, fills by time, funding, ledger events, oracle updates
 * and writer actions.
 */
export class ParquetTables {
  readonly #tables = {
    'candles-by-coin': new Parquet(CANDLE_COLUMNS),
    'fills-by-user': new Parquet(FILL_COLUMNS),
    'fills-by-time': new Parquet(FILL_COLUMNS),
    'funding-by-user': new Parquet(FUNDING_COLUMNS),
    'ledger-by-user': new Parquet(LEDGER_COLUMNS),
    'oracle-updates-by-time': new Parquet(ORACLE_COLUMNS),
    'writer-actions-by-time': new Parquet(WRITER_COLUMNS),
  }

  readonly #holes: readonly TimeSpan[]
  #candle: { readonly head: LineHead; readonly coin: Coin; readonly part: CandlePart } | null = null

  /** `holes`: periods whose trades may be missing or in other files. */
  constructor(holes: readonly TimeSpan[]) {
    this.#holes = holes
  }

  add(key: string, lines: readonly string[]): void {
    const coin = candleCoinOf(key)
    if (coin !== null) return this.#candles(coin, lines)
    if (key.startsWith(FUNDING_PREFIX)) return this.#funding(key.slice(FUNDING_PREFIX.length), lines)
    if (key === ALL_ORACLE || key === ALL_WRITER) return this.#extras(key, lines)
    const table = key === ALL_FILLS ? 'fills-by-time' : key.startsWith('u:') ? 'fills-by-user' : null
    if (table === null && !key.startsWith('l:')) return
    for (const line of lines) {
      const head = headOf(line)
      for (const row of rowsOf(line))
        if (table) this.#tables[table].add(fillCells(head, row as UserFill))
        else this.#tables['ledger-by-user'].add(ledgerCells(head, key.slice('l:'.length), row as LedgerEvent))
    }
  }

  #extras(key: typeof ALL_ORACLE | typeof ALL_WRITER, lines: readonly string[]): void {
    for (const line of lines) {
      const head = headOf(line)
      if (key === ALL_ORACLE)
        for (const row of oracleRows(rowsOf(line))) this.#tables['oracle-updates-by-time'].add(oracleCells(head, row))
      else
        for (const row of writerActions(rowsOf(line)))
          this.#tables['writer-actions-by-time'].add(writerCells(head, row))
    }
  }

  #funding(user: Address, lines: readonly string[]): void {
    for (const line of lines) {
      const head = headOf(line)
      for (const row of rowsOf(line)) this.#tables['funding-by-user'].add(fundingCells(head, user, row as FundingRow))
    }
  }

  /** Adds candle lines. A minute that is split across files becomes one row. */
  #candles(coin: Coin, lines: readonly string[]): void {
    for (const line of lines)
      for (const part of partsOf(line)) {
        const open = this.#candle
        const isSame = open?.coin === coin && open.part.t === part.t
        if (!isSame) this.#endCandle()
        this.#candle = isSame ? { ...open, part: mergeParts(open.part, part) } : { head: headOf(line), coin, part }
      }
  }

  #endCandle(): void {
    const open = this.#candle
    this.#candle = null
    if (open === null) return
    const { t, T } = spanOf(BASE_INTERVALS[0], open.part.t)
    const isComplete = !this.#holes.some(({ fromMs, toMs }) => fromMs <= T && toMs >= t)
    this.#tables['candles-by-coin'].add(candleCells(open.head, open.coin, open.part, isComplete))
  }

  /** Returns the tables that have rows. Other work may run between tables. */
  async finish(): Promise<readonly Table[]> {
    this.#endCandle()
    const tables: Table[] = []
    for (const [name, table] of Object.entries(this.#tables)) {
      if (table.rows === 0) continue
      tables.push({ name: name as TableName, rows: table.rows, bytes: table.finish() })
      await sleep(YIELD_MS)
    }
    return tables
  }
}
