// Compares a D1 database with the schema of its migrations. D1 can record a migration as applied although only a part of it ran.

import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'

export const SchemaRow = z.object({ type: z.string(), name: z.string(), sql: z.string().nullable() })
type SchemaRow = z.infer<typeof SchemaRow>

/** Names of internal tables of SQLite, D1 and wrangler. */
const INTERNAL_NAMES = /^(?:sqlite_|_cf_|d1_migrations$)/
export const SCHEMA_QUERY = 'SELECT type, name, sql FROM sqlite_master'

/**
 * One line for each table, column or index of `expected` that is missing or different in `found`. Additional tables,
 * columns and indexes are allowed.
 */
export function schemaFaults(expected: readonly string[], found: readonly SchemaRow[]): string[] {
  const tablesFirst = found
    .filter(({ name }) => !INTERNAL_NAMES.test(name))
    .sort((a, b) => b.type.localeCompare(a.type))
  const actual = shapesOf(tablesFirst.map(({ sql }) => sql ?? ''))
  return [...shapesOf(expected)].flatMap(([name, parts]) => {
    const shape = actual.get(name)
    if (shape === undefined) return [`no ${name}`]
    const missing = parts.filter((part) => !shape.includes(part))
    return missing.length === 0 ? [] : [`${name} without ${missing.join(', ')}`]
  })
}

/** Columns by `type name`. A table's columns have their types and constraints. An index's columns are in order. */
function shapesOf(statements: readonly string[]): Map<string, readonly string[]> {
  const database = new DatabaseSync(':memory:')
  for (const sql of statements) {
    try {
      database.exec(sql)
    } catch {
      // If a statement fails, its object is missing, and the comparison reports that.
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
