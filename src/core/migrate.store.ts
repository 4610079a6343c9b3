// Numbered schema migrations for the SQLite database of a Durable Object. The table `schema_version` records how many
// steps were applied. A released step is never edited. A schema change is always a new step.

/** Applies the steps that were not applied yet. Steps that a newer release applied are not undone. */
export function migrate(storage: DurableObjectStorage, steps: readonly string[]): void {
  const { sql } = storage
  sql.exec(
    'CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT',
  )
  const version = sql.exec<{ version: number }>('SELECT version FROM schema_version').toArray()[0]?.version ?? 0
  if (version >= steps.length) return
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) sql.exec(step)
    sql.exec('INSERT OR REPLACE INTO schema_version VALUES (1, ?)', steps.length)
  })
}
