// Base class of stores that use the SQLite database of a Durable Object. Each statement asserts its row type. Tables
// are STRICT.

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

  /** The first row; undefined if there is none. */
  protected first<Row extends object>(select: string, ...values: SqlStorageValue[]): Row | undefined {
    return this.all<Row>(select, ...values)[0]
  }

  /** The row of a statement that always returns exactly one row. */
  protected one<Row extends object>(select: string, ...values: SqlStorageValue[]): Row {
    return this.#sql.exec<{ [Name in keyof Row]: Row[Name] & SqlStorageValue }>(select, ...values).one()
  }

  protected has(select: string, ...values: SqlStorageValue[]): boolean {
    return this.all(select, ...values).length > 0
  }
}
