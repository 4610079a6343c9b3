// Runs the SQL transforms of a batch in SQLite (WebAssembly), in a database that exists only for the batch. Invariants:
// only the batch's tables can be read; steps, memory and output are bounded; the same rows produce the same result;
// errors name the failing transform.

import * as SQLite from 'wa-sqlite'
import openModule from 'wa-sqlite/dist/wa-sqlite.mjs'
import binary from 'wa-sqlite/dist/wa-sqlite.wasm'
import type { Column } from '../../archive/files/columns.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import { HEAD_COLUMNS } from '../topics/topic.ts'
import type { RowDefaults, SqlTable, TransformFault } from './sql-api.ts'

const READ = 20
const SELECT = 21
const FUNCTION = 31
const RECURSIVE = 33

/**
 * Forbidden functions: non-deterministic ones, because a retry must produce the same rows; access outside the database;
 * huge output from small input; and single steps with quadratic cost, which the step limit cannot interrupt.
 */
const FORBIDDEN = [
  ...['random', 'randomblob', 'current_timestamp', 'current_date', 'current_time'],
  // If called with no argument or with 'now', these return the current time.
  ...['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff'],
  ...['load_extension', 'fts3_tokenizer', 'writefile', 'readfile', 'edit'],
  ...['zeroblob', 'printf', 'format', 'replace', 'hex'],
  ...['instr', 'trim', 'ltrim', 'rtrim', 'json_patch'],
]
/** Tables of the engine and its schema. */
const HIDDEN = /^(?:sqlite_|pragma_|dbstat)/i

/** `one` and `two`: table and column of a read; null and the function of a call. */
function isAllowed(code: number, one: string | null, two: string | null): boolean {
  if (code === SELECT || code === RECURSIVE) return true
  if (code === READ) return !HIDDEN.test(one ?? '')
  return code === FUNCTION && !FORBIDDEN.includes((two ?? '').toLowerCase())
}

/** Memory limit for all databases together. The isolate has 128 MiB, which must also hold the rows. */
const MAX_MEMORY_BYTES = 48 * 1024 * 1024
const PAGE_BYTES = 65_536
/** Maximum SQLite steps for all transforms of a batch, and the steps between two checks of its limits. */
const MAX_STEPS = 20_000_000
const CHECK_STEPS = 1_000
/** Checks are more frequent if a step may scan a long string. */
const JSON_CHECK_STEPS = 100
/** Time limit where clocks advance during execution. Cloudflare has its own CPU limit. */
const MAX_RUN_MS = 2_000
/** SQLite's own numbers for its limits. */
const LIMIT_LENGTH = 0
/** SQLite accepts null to remove a handler, which the library's types do not allow. */
const NO_HANDLER = null as unknown as () => number
const LIMIT_SQL = 1
const LIMIT_ATTACHED = 7
const LIMIT_PATTERN = 8
/**
 * A step may scan a whole string, so a shorter maximum length bounds the step's duration. Lists of book levels are
 * longer.
 */
const MAX_TEXT_BYTES = 64 * 1024
const MAX_JSON_BYTES = 1024 * 1024
const MAX_SQL_CHARS = 96 * 1024
const MAX_PATTERN_CHARS = 128
/** Output limits, above the size of any batch. */
const MAX_ROWS = 30_000
const MAX_OUTPUT_CHARS = 8 * 1024 * 1024
const TOO_LONG = `returns more than ${inGroups(MAX_OUTPUT_CHARS)} characters for a batch`
const MAX_NAME_CHARS = 128
const RESERVED = 'names starting with "_" are reserved, except _kind, _key, _height and _time of the batch'
const MAX_MESSAGE_CHARS = 300

type Transforms = Readonly<Record<string, string>>

/** JSON of each row, and the SQLite steps used. */
interface RunResult {
  readonly outcome: Result<readonly string[], TransformFault>
  readonly steps: number
}

/** Reserved column names that a result may contain. */
const HEAD_NAMES: readonly string[] = HEAD_COLUMNS.map(({ name }) => name)

/** Parses and plans transforms over empty tables. The error names the invalid one. */
export async function checkTransforms(transforms: Transforms, tables: readonly SqlTable[]): Promise<RunResult> {
  const database = await Database.open()
  try {
    for (const { name, columns } of tables) await database.table(name, columns)
    const outcome = await database.chain(transforms, null)
    return { outcome, steps: database.steps }
  } finally {
    await database.close()
  }
}

/**
 * Runs transforms in order. Each can read the topic's table and earlier transforms by name; the result of the last is
 * delivered. `rows`: a JSON list of data rows.
 */
export async function runTransforms(
  transforms: Transforms,
  { name, columns }: SqlTable,
  rows: string,
  { id, height, time }: RowDefaults,
): Promise<RunResult> {
  const database = await Database.open()
  try {
    await database.table(name, columns)
    await database.fill(name, columns, rows)
    const outcome = await database.chain(transforms, (cells, at) => {
      const head = { _kind: 'row', _key: `${id}:${at}`, _height: height, _time: time } as const
      return {
        ...head,
        ...Object.fromEntries(cells.filter(([cell, value]) => !Object.hasOwn(head, cell) || value !== null)),
      }
    })
    return { outcome, steps: database.steps }
  } finally {
    await database.close()
  }
}

/** Builds a result row from its cells and index. */
type RowFactory = (cells: readonly (readonly [name: string, cell: unknown])[], at: number) => object

interface Engine {
  readonly api: SQLiteAPI
  isBroken: boolean
}

let engine: Promise<Engine> | null = null

/** One engine per isolate: its memory grows up to a limit and is never released. */
async function startEngine(): Promise<Engine> {
  const module = await openModule({
    // Prevents a lookup of the script's location, which a bundle does not have.
    locateFile: (name: string) => name,
    instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
      const instance = new WebAssembly.Instance(binary, imports)
      for (const one of Object.values(instance.exports)) if (one instanceof WebAssembly.Memory) limitMemory(one)
      done(instance)
      return instance.exports
    },
    printErr: () => undefined,
  })
  return { api: SQLite.Factory(module), isBroken: false }
}

/** This build of SQLite lacks its own memory limit, so growing beyond the limit fails here. */
function limitMemory(memory: WebAssembly.Memory): void {
  const grow = memory.grow.bind(memory)
  memory.grow = (pages: number) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > MAX_MEMORY_BYTES) throw new RangeError('no more memory')
    return grow(pages)
  }
}

class Database {
  readonly #engine: Engine
  readonly #db: number
  #steps = 0
  #isLate = false
  #textBytes = MAX_TEXT_BYTES

  private constructor(opened: Engine, db: number) {
    this.#engine = opened
    this.#db = db
  }

  static async open(): Promise<Database> {
    engine ??= startEngine()
    const opened = await engine
    if (opened.isBroken) {
      engine = null
      return Database.open()
    }
    const db = await opened.api.open_v2(':memory:')
    const database = new Database(opened, db)
    for (const [limit, most] of [
      [LIMIT_LENGTH, MAX_TEXT_BYTES],
      [LIMIT_SQL, MAX_SQL_CHARS],
      [LIMIT_ATTACHED, 0],
      [LIMIT_PATTERN, MAX_PATTERN_CHARS],
    ] as const)
      opened.api.limit(db, limit, most)
    // Otherwise, sorting would use files, which take an unbounded amount of the object's memory.
    await opened.api.exec(db, 'PRAGMA temp_store = MEMORY')
    database.#limitSteps(CHECK_STEPS, Date.now() + MAX_RUN_MS)
    return database
  }

  #limitSteps(steps: number, untilMs: number): void {
    const isOver = () => {
      this.#steps += steps
      this.#isLate = Date.now() > untilMs
      return this.#isLate || this.#steps > MAX_STEPS
    }
    this.#engine.api.progress_handler(this.#db, steps, () => (isOver() ? 1 : 0), null)
  }

  get steps(): number {
    return this.#steps
  }

  async close(): Promise<void> {
    const { api } = this.#engine
    api.progress_handler(this.#db, 0, NO_HANDLER, null)
    api.set_authorizer(this.#db, null as never, null)
    await api.close(this.#db).catch(() => {
      this.#engine.isBroken = true
    })
  }

  async table(name: string, columns: readonly Column[]): Promise<void> {
    const own = [...HEAD_COLUMNS, ...columns].map((column) => `"${column.name}" ${TYPES[column.type]}`)
    await this.#engine.api.exec(this.#db, `CREATE TABLE "${name}" (${own.join(', ')})`)
  }

  async fill(name: string, columns: readonly Column[], all: string): Promise<void> {
    const cells = [...HEAD_COLUMNS, ...columns].map((column) => `value ->> '$.${column.name}'`)
    const sql = `INSERT INTO "${name}" SELECT ${cells.join(', ')} FROM json_each(?)`
    const { api } = this.#engine
    const isLong = columns.some(
      ({ type, name: column }) => type === 'json' && (column === 'bids' || column === 'signed_action'),
    )
    if (isLong) this.#textBytes = MAX_JSON_BYTES
    // Loading the rows does not count toward the limits of the transforms.
    api.progress_handler(this.#db, 0, NO_HANDLER, null)
    // A batch may be larger than the string limit of transforms.
    api.limit(this.#db, LIMIT_LENGTH, Math.max(MAX_JSON_BYTES, 4 * all.length))
    await api.run(this.#db, sql, [all])
    api.limit(this.#db, LIMIT_LENGTH, this.#textBytes)
    this.#limitSteps(isLong ? JSON_CHECK_STEPS : CHECK_STEPS, Date.now() + MAX_RUN_MS)
  }

  /**
   * Each transform becomes a table for later ones. If `make` is omitted, transforms are only planned, and tables stay
   * empty.
   */
  async chain(transforms: Transforms, make: RowFactory | null): Promise<RunResult['outcome']> {
    const all = Object.entries(transforms)
    let made: readonly string[] = []
    for (const [at, [name, sql]] of all.entries()) {
      try {
        const isLast = at === all.length - 1
        made = await this.#select(sql, isLast ? (make ?? 'checked') : null)
        const select = `${sql.replace(/[;\s]+$/, '')}\n`
        const table = make ? select : `SELECT * FROM (${select}) LIMIT 0`
        if (!isLast) await this.#engine.api.exec(this.#db, `CREATE TABLE "${name}" AS ${table}`)
      } catch (error) {
        return err({ name, ...this.#toFault(error) })
      }
    }
    return ok(made)
  }

  #toFault(error: unknown): Omit<TransformFault, 'name'> {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof WebAssembly.RuntimeError) this.#engine.isBroken = true
    if (reason === 'interrupted')
      return {
        message: 'exceeds the step or time limit. Select less, or limit the recursion',
        over: this.#isLate ? 'time' : 'steps',
      }
    if (/out of memory/.test(reason))
      return { message: 'exceeds the memory limit. Select less at once', over: 'memory' }
    const message = reason === 'not authorized' ? 'may only read the tables of the batch' : reason
    return { message: visible(message).slice(0, MAX_MESSAGE_CHARS) }
  }

  /**
   * Runs the single statement under the authorizer. Returns its rows, unless it is only planned. `checked`: plan the
   * last transform.
   */
  async #select(sql: string, make: RowFactory | 'checked' | null): Promise<readonly string[]> {
    const { api } = this.#engine
    const texts: string[] = []
    let statements = 0
    let bytes = 0
    let chars = 0
    api.set_authorizer(this.#db, (_, code, one, two) => (isAllowed(code, one, two) ? 0 : 1), null)
    try {
      for await (const statement of api.statements(this.#db, sql)) {
        if (++statements > 1) throw new Error('must be a single SELECT')
        const names = api.column_names(statement)
        if (names.length === 0) throw new Error('must be a SELECT')
        if (names.some((name) => name.length > MAX_NAME_CHARS))
          throw new Error(`has a column name longer than ${MAX_NAME_CHARS} characters. Shorten it with AS`)
        const ours = names.find((name) => name.startsWith('_') && !HEAD_NAMES.includes(name))
        if (make !== null && ours !== undefined) throw new Error(`has a column ${ours}: ${RESERVED}`)
        if (typeof make !== 'function') continue
        while ((await api.step(statement)) === SQLite.SQLITE_ROW) {
          // Bytes are counted before the cells are copied out of SQLite's memory, where they may share a string.
          for (const [at] of names.entries()) bytes += api.column_bytes(statement, at)
          if (bytes > MAX_OUTPUT_CHARS) throw new Error(TOO_LONG)
          const cells = api.row(statement).map((cell, at) => [names[at] ?? '', jsonValue(cell)] as const)
          const text = JSON.stringify(make(cells, texts.length))
          chars += text.length
          if (chars > MAX_OUTPUT_CHARS) throw new Error(TOO_LONG)
          if (texts.push(text) > MAX_ROWS) throw new Error(`returns more than ${inGroups(MAX_ROWS)} rows for a batch`)
        }
      }
    } finally {
      api.set_authorizer(this.#db, null as never, null)
    }
    if (statements === 0) throw new Error('must be a SELECT')
    return texts
  }
}

const TYPES = { text: 'TEXT', whole: 'INTEGER', time: 'INTEGER', truth: 'INTEGER', json: 'TEXT' } as const

/** JSON value of a cell. */
function jsonValue(cell: unknown): unknown {
  if (typeof cell === 'bigint') return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
  return cell instanceof Uint8Array ? new TextDecoder().decode(cell) : cell
}
