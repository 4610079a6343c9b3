// Answers of D1 with the types that their statements say.

/** The row of a statement that always has one, such as a sum. */
export async function oneRow<Row>(statement: D1PreparedStatement): Promise<Row> {
  const row = await statement.first<Row>()
  if (row === null) throw new Error('A statement that always has a row answered none')
  return row
}

/** Runs statements in one transaction; answers a result for each, in their order. */
export async function batchOf<Rows extends readonly unknown[]>(
  db: Pick<D1Database, 'batch'>,
  statements: D1PreparedStatement[],
): Promise<{ readonly [At in keyof Rows]: D1Result<Rows[At]> }> {
  return (await db.batch(statements)) as { readonly [At in keyof Rows]: D1Result<Rows[At]> }
}
