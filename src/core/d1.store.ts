// Returns results of D1 statements with their row types.

/** Returns the row of a statement that always returns exactly one row, such as a sum. */
export async function oneRow<Row>(statement: D1PreparedStatement): Promise<Row> {
  const row = await statement.first<Row>()
  if (row === null) throw new Error('statement returned no row, expected exactly one')
  return row
}

/** Runs statements in one transaction. Returns one result per statement, in order. */
export async function batchOf<Rows extends readonly unknown[]>(
  db: Pick<D1Database, 'batch'>,
  statements: D1PreparedStatement[],
): Promise<{ readonly [At in keyof Rows]: D1Result<Rows[At]> }> {
  return (await db.batch(statements)) as { readonly [At in keyof Rows]: D1Result<Rows[At]> }
}
