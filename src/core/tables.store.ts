// Statements of a store over the SQLite of a Durable Object. Rows have the types that whoever wrote the statement says: tables
// are STRICT, and each statement stands beside the type of its rows.

/** What a store of tables is made of. */
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

  /** Undefined: there is none. */
  protected first<Row extends object>(select: string, ...values: SqlStorageValue[]): Row | undefined {
    return this.all<Row>(select, ...values)[0]
  }

  /** Of a statement that has always one. */
  protected one<Row extends object>(select: string, ...values: SqlStorageValue[]): Row {
    return this.#sql.exec<{ [Name in keyof Row]: Row[Name] & SqlStorageValue }>(select, ...values).one()
  }

  protected has(select: string, ...values: SqlStorageValue[]): boolean {
    return this.all(select, ...values).length > 0
  }
}
