// Whether a database on D1 has what its migrations make: a ledger can say "applied" of a file that was cut.

import { DatabaseSync } from 'node:sqlite'

export interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly sql: string | null
}

/** Kept by SQLite, D1 and wrangler. */
const INTERNAL_NAMES = /^(?:sqlite_|_cf_|d1_migrations$)/
export const SCHEMA_QUERY = 'SELECT type, name, sql FROM sqlite_master'

/** A line for each table, column or index of `expected` that `found` lacks or has otherwise. What is more is nobody's fault. */
export function schemaFaults(expected: readonly string[], found: readonly SchemaRow[]): string[] {
  const tablesFirst = found
    .filter(({ name }) => !INTERNAL_NAMES.test(name))
    .sort((a, b) => b.type.localeCompare(a.type))
  const has = shapesOf(tablesFirst.map(({ sql }) => sql ?? ''))
  return [...shapesOf(expected)].flatMap(([what, wanted]) => {
    const shape = has.get(what)
    if (shape === undefined) return [`no ${what}`]
    const lacks = wanted.filter((part) => !shape.includes(part))
    return lacks.length === 0 ? [] : [`${what} without ${lacks.join(', ')}`]
  })
}

/** By kind and name, the columns: of tables with type and constraints, of indexes in their order. */
function shapesOf(statements: readonly string[]): Map<string, readonly string[]> {
  const database = new DatabaseSync(':memory:')
  for (const sql of statements) {
    try {
      database.exec(sql)
    } catch {
      // What cannot be made here is not what was expected.
    }
  }
  const rows = database.prepare(SCHEMA_QUERY).all() as unknown as SchemaRow[]
  const shapes = rows
    .filter(({ name }) => !INTERNAL_NAMES.test(name))
    .map(({ type, name }): [string, string[]] => [`${type} ${name}`, partsOf(database, type, name)])
  database.close()
  return new Map(shapes)
}

function partsOf(database: DatabaseSync, type: string, name: string): string[] {
  if (type === 'index') {
    const columns = database.prepare(`PRAGMA index_info("${name}")`).all()
    return [`(${columns.map((column) => column.name).join(', ')})`]
  }
  const columns = database.prepare(`PRAGMA table_info("${name}")`).all()
  return columns.map((column) => `${column.name} ${column.type}${column.notnull ? ' NOT NULL' : ''}`)
}
