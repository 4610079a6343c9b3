// The part of D1 that stores use, for tests of stores without workerd.

interface D1Result<Row = unknown> {
  readonly results: Row[]
  readonly meta: { readonly changes: number }
}

interface D1PreparedStatement {
  bind(...values: unknown[]): D1PreparedStatement
  all<Row>(): Promise<D1Result<Row>>
  run(): Promise<D1Result>
  first<Row>(column?: string): Promise<Row | null>
}

interface D1Database {
  prepare(text: string): D1PreparedStatement
  batch<Row = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]>
}
