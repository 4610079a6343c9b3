// The transforms of a pipeline: SQL over a batch, in SQLite compiled to WebAssembly, in a database of its own that is gone with
// the batch. Laws: nothing but reading of the batch's tables is allowed; steps, memory, and what comes out are bounded; the same
// rows make the same rows; whoever fails is named.

import * as SQLite from 'wa-sqlite'
import openModule from 'wa-sqlite/dist/wa-sqlite.mjs'
import binary from 'wa-sqlite/dist/wa-sqlite.wasm'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import type { Column } from '../../history/files/columns.ts'
import { TOPIC_COLUMNS } from '../topics/catalogue.ts'
import { HEAD_COLUMNS, type Row } from '../topics/topic.ts'
import { allows } from './sql-rules.ts'

/** Of all databases at once: the object has 128 MiB, and the rows lie in it besides. */
const MEMORY_BYTES = 48 * 1024 * 1024
const PAGE_BYTES = 65_536
/** SQLite's own steps for all transforms of a batch, and between two looks: fewer where a step may go over a long text. */
const STEPS_MOST = 20_000_000
const [LOOK_STEPS, JSON_LOOK_STEPS] = [1_000, 100]
/** And their time, where clocks go on while a Worker computes: on Cloudflare it has a bound of its own. */
const TIME_MS = 5_000
/** Of one text, and of one statement, as SQLite numbers its limits. */
const [LIMIT_LENGTH, LIMIT_SQL, LIMIT_ATTACHED, LIMIT_PATTERN] = [0, 1, 7, 8]
/** A step may go over a whole text: the shorter they are, the sooner the steps are over. Lists of levels are longer. */
const [TEXT_BYTES, JSON_BYTES] = [64 * 1024, 1024 * 1024]
const SQL_CHARS = 96 * 1024
const PATTERN_CHARS = 128
/** Of what comes out: more than a batch has, which ends with the block in which it is full. */
const ROWS_MOST = 30_000
const CHARS_MOST = 8 * 1024 * 1024
const TOO_LONG = `selects more than ${CHARS_MOST} characters of a batch`
const NAME_CHARS = 128
const WORDS_MOST = 300

export interface TransformFault {
  readonly name: string
  readonly message: string
}

export interface Transformed {
  readonly rows: readonly Row[]
  readonly texts: readonly string[]
}

type Transforms = Readonly<Record<string, string>>
/** What is selected becomes a row. */
type Make = (cells: readonly (readonly [name: string, cell: unknown])[], at: number) => Row

/** Parses and plans transforms over the empty table of a topic; null: of each. The error names the one that is wrong. */
export async function checkTransforms(
  transforms: Transforms,
  topic: string | null = null,
): Promise<Result<null, TransformFault>> {
  if (Object.keys(transforms).length === 0) return ok(null)
  const database = await Database.open()
  try {
    for (const [name, columns] of TOPIC_COLUMNS)
      if (topic === null || name === topic) await database.table(name, columns)
    const outcome = await database.chain(transforms, null)
    return outcome.ok ? ok(null) : outcome
  } finally {
    await database.close()
  }
}

/**
 * What transforms make of a batch, in their order: each sees the table of the topic and those before it by their names, and
 * what the last selects is delivered. Rows that are no data pass them by, and stand first.
 */
export async function transformed(
  transforms: Transforms,
  topic: string,
  columns: readonly Column[],
  { rows, texts, id }: Transformed & { readonly id: string },
): Promise<Result<Transformed, TransformFault>> {
  const database = await Database.open()
  try {
    await database.table(topic, columns)
    await database.fill(
      topic,
      columns,
      texts.filter((_, at) => rows[at]!._kind === 'row'),
    )
    const last = rows.at(-1)!
    const outcome = await database.chain(transforms, (cells, at) => {
      const head = { _kind: 'row', _key: `${id}:${at}`, _height: last._height, _time: last._time } as const
      return { ...head, ...Object.fromEntries(cells.filter(([name, value]) => !(name in head) || value !== null)) }
    })
    if (!outcome.ok) return outcome
    const notes = rows.filter(({ _kind }) => _kind !== 'row')
    const noteTexts = texts.filter((_, at) => rows[at]!._kind !== 'row')
    return ok({ rows: [...notes, ...outcome.value.rows], texts: [...noteTexts, ...outcome.value.texts] })
  } finally {
    await database.close()
  }
}

interface Engine {
  readonly api: SQLiteAPI
  isBroken: boolean
}

let engine: Promise<Engine> | null = null

/** One for all of the isolate: its memory grows to a bound and stays. */
async function started(): Promise<Engine> {
  const module = await openModule({
    // Else it asks where its script lies, which a bundle does not know.
    locateFile: (name: string) => name,
    instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
      const instance = new WebAssembly.Instance(binary, imports)
      for (const one of Object.values(instance.exports)) if (one instanceof WebAssembly.Memory) bound(one)
      done(instance)
      return instance.exports
    },
    printErr: () => undefined,
  })
  return { api: SQLite.Factory(module), isBroken: false }
}

/** SQLite's own bound of memory is compiled out: whoever wants more is told that there is none. */
function bound(memory: WebAssembly.Memory): void {
  const grow = memory.grow.bind(memory)
  memory.grow = (pages: number) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > MEMORY_BYTES) throw new RangeError('no more memory')
    return grow(pages)
  }
}

class Database {
  readonly #engine: Engine
  readonly #db: number
  #steps = 0
  #untilMs = 0
  #textBytes = TEXT_BYTES

  private constructor(opened: Engine, db: number) {
    this.#engine = opened
    this.#db = db
  }

  static async open(): Promise<Database> {
    engine ??= started()
    const opened = await engine
    if (opened.isBroken) {
      engine = null
      return Database.open()
    }
    const db = await opened.api.open_v2(':memory:')
    const database = new Database(opened, db)
    for (const [limit, most] of [
      [LIMIT_LENGTH, TEXT_BYTES],
      [LIMIT_SQL, SQL_CHARS],
      [LIMIT_ATTACHED, 0],
      [LIMIT_PATTERN, PATTERN_CHARS],
    ] as const)
      opened.api.limit(db, limit, most)
    // Else what is sorted goes into files, which lie in the object's memory without a bound.
    await opened.api.exec(db, 'PRAGMA temp_store = MEMORY')
    database.#look(LOOK_STEPS, Date.now() + TIME_MS)
    return database
  }

  #look(steps: number, untilMs: number): void {
    this.#untilMs = untilMs
    const isOver = () => {
      this.#steps += steps
      return this.#steps > STEPS_MOST || Date.now() > untilMs
    }
    this.#engine.api.progress_handler(this.#db, steps, () => (isOver() ? 1 : 0), null)
  }

  async close(): Promise<void> {
    const { api } = this.#engine
    api.progress_handler(this.#db, 0, null as unknown as () => number, null)
    api.set_authorizer(this.#db, null as never, null)
    await api.close(this.#db).catch(() => {
      this.#engine.isBroken = true
    })
  }

  async table(name: string, columns: readonly Column[]): Promise<void> {
    const own = [...HEAD_COLUMNS, ...columns].map((column) => `"${column.name}" ${TYPES[column.type]}`)
    await this.#engine.api.exec(this.#db, `CREATE TABLE "${name}" (${own.join(', ')})`)
  }

  async fill(name: string, columns: readonly Column[], texts: readonly string[]): Promise<void> {
    const cells = [...HEAD_COLUMNS, ...columns].map((column) => `value ->> '$.${column.name}'`)
    const sql = `INSERT INTO "${name}" SELECT ${cells.join(', ')} FROM json_each(?)`
    const { api } = this.#engine
    if (columns.some(({ type, name: column }) => type === 'json' && column === 'bids')) {
      this.#textBytes = JSON_BYTES
      this.#look(JSON_LOOK_STEPS, this.#untilMs)
    }
    // A batch may be larger than any text of a transform.
    const all = `[${texts.join(',')}]`
    api.limit(this.#db, LIMIT_LENGTH, Math.max(JSON_BYTES, 4 * all.length))
    await api.run(this.#db, sql, [all])
    api.limit(this.#db, LIMIT_LENGTH, this.#textBytes)
  }

  /** Each transform becomes a table for those behind it. Without `make` they are planned alone, and the tables stay empty. */
  async chain(transforms: Transforms, make: Make | null): Promise<Result<Transformed, TransformFault>> {
    const all = Object.entries(transforms)
    let made: Transformed = { rows: [], texts: [] }
    for (const [at, [name, sql]] of all.entries()) {
      const fault = (message: string) => err({ name, message: visible(message).slice(0, WORDS_MOST) })
      try {
        const isLast = at === all.length - 1
        made = await this.#select(sql, isLast ? make : null)
        const select = `${sql.replace(/[;\s]+$/, '')}\n`
        const table = make ? select : `SELECT * FROM (${select}) LIMIT 0`
        if (!isLast) await this.#engine.api.exec(this.#db, `CREATE TABLE "${name}" AS ${table}`)
      } catch (error) {
        return fault(this.#wordsOf(error))
      }
    }
    return ok(made)
  }

  #wordsOf(error: unknown): string {
    const words = error instanceof Error ? error.message : String(error)
    if (error instanceof WebAssembly.RuntimeError) this.#engine.isBroken = true
    if (words === 'interrupted') return 'takes too many steps, or too long: select less, or bound the recursion'
    if (/out of memory/.test(words)) return 'needs too much memory: select less at once'
    return words === 'not authorized' ? 'may only select from the tables of the batch' : words
  }

  /** The one statement, under the authoriser; what it answers, unless it is to be planned alone. */
  async #select(sql: string, make: Make | null): Promise<Transformed> {
    const { api } = this.#engine
    const rows: Row[] = []
    const texts: string[] = []
    let statements = 0
    let [bytes, chars] = [0, 0]
    api.set_authorizer(this.#db, (_, code, one, two) => (allows(code, one, two) ? 0 : 1), null)
    try {
      for await (const statement of api.statements(this.#db, sql)) {
        if (++statements > 1) throw new Error('must be one SELECT alone')
        const names = api.column_names(statement)
        if (names.length === 0) throw new Error('must be a SELECT')
        if (names.some((name) => name.length > NAME_CHARS))
          throw new Error(`has a column whose name is longer than ${NAME_CHARS} characters: name it with AS`)
        if (make === null) continue
        while ((await api.step(statement)) === SQLite.SQLITE_ROW) {
          // Counted before they are taken out of its memory, where cells of a row may share a text.
          for (const [at] of names.entries()) bytes += api.column_bytes(statement, at)
          if (bytes > CHARS_MOST) throw new Error(TOO_LONG)
          const cells = api.row(statement).map((cell, at) => [names[at]!, plain(cell)] as const)
          const row = make(cells, rows.length)
          const text = JSON.stringify(row)
          chars += text.length
          if (chars > CHARS_MOST) throw new Error(TOO_LONG)
          if (rows.push(row) > ROWS_MOST) throw new Error(`selects more than ${ROWS_MOST} rows of a batch`)
          texts.push(text)
        }
      }
    } finally {
      api.set_authorizer(this.#db, null as never, null)
    }
    if (statements === 0) throw new Error('must be a SELECT')
    return { rows, texts }
  }
}

const TYPES = { text: 'TEXT', whole: 'INTEGER', time: 'INTEGER', truth: 'INTEGER', json: 'TEXT' } as const

/** A cell as JSON has it. */
function plain(cell: unknown): unknown {
  if (typeof cell === 'bigint') return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
  return cell instanceof Uint8Array ? new TextDecoder().decode(cell) : cell
}
