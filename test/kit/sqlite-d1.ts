// D1 on SQLite in memory, for tests of stores without workerd. `before` and `after` run around each call, and may throw.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

const ROOT = join(import.meta.dirname, '../..')

interface Steps {
  readonly before: () => void
  readonly after: () => void
}

class Statement {
  readonly text: string
  readonly values: readonly SQLInputValue[]
  readonly #db: SqliteD1

  constructor(db: SqliteD1, text: string, values: readonly SQLInputValue[] = []) {
    this.#db = db
    this.text = text
    this.values = values
  }

  bind(...values: SQLInputValue[]): Statement {
    return new Statement(this.#db, this.text, values)
  }

  async all() {
    const [result] = await this.#db.batch([this])
    return result!
  }

  async run() {
    return this.all()
  }

  async first(column?: string) {
    const [row] = (await this.all()).results as Record<string, unknown>[]
    return row === undefined ? null : column === undefined ? row : row[column]
  }
}

export class SqliteD1 {
  readonly sqlite = new DatabaseSync(':memory:')
  readonly #steps: Steps

  /** `database`: folder of the migrations. */
  constructor(database: string, steps: Steps) {
    for (const file of globSync(`schemas/d1/${database}/*.sql`, { cwd: ROOT }).sort())
      this.sqlite.exec(readFileSync(join(ROOT, file), 'utf8'))
    this.#steps = steps
  }

  prepare(text: string): Statement {
    return new Statement(this, text)
  }

  async batch(statements: readonly Statement[]) {
    this.#steps.before()
    this.sqlite.exec('BEGIN')
    const results: { results: unknown[]; meta: { changes: number } }[] = []
    try {
      for (const { text, values } of statements) {
        const rows = this.sqlite.prepare(text).all(...values)
        const { changes } = this.sqlite.prepare('SELECT changes() AS changes').get() as { changes: number }
        results.push({ results: rows.map((row) => ({ ...row })), meta: { changes } })
      }
      this.sqlite.exec('COMMIT')
    } catch (error) {
      this.sqlite.exec('ROLLBACK')
      throw error
    }
    this.#steps.after()
    return results
  }
}
