// Base class for stores over Durable Object SQLite. Row types are asserted by each statement; tables are STRICT.

export class Tables {
  readonly #sql: Pick<SqlStorage, 'exec'>

  constructor(sql: Pick<SqlStorage, 'exec'>) {
    this.#sql = sql
  }

  protected run(statement: string, ...values: SqlStorageValue[]): void {
    this.#sql.exec(statement, ...values)
  }

  protected all<Row extends object>(select: string, ...values: SqlStorageValue[]): Row[] {
    return this.#sql.exec<{ [Name in keyof Row]: Row[Name] & SqlStorageValue }>(select, ...values).toArray()
  }

  /** Undefined: no row. */
  protected first<Row extends object>(select: string, ...values: SqlStorageValue[]): Row | undefined {
    return this.all<Row>(select, ...values)[0]
  }

  /** For a statement that always returns one row. */
  protected one<Row extends object>(select: string, ...values: SqlStorageValue[]): Row {
    return this.#sql.exec<{ [Name in keyof Row]: Row[Name] & SqlStorageValue }>(select, ...values).one()
  }

  protected has(select: string, ...values: SqlStorageValue[]): boolean {
    return this.all(select, ...values).length > 0
  }
}
