// Numbered schema migrations for Durable Object SQLite. `schema_version` records the applied steps. A released step is
// never edited; changes are new steps.

/** Applies the missing steps. Steps applied by a newer release stay. */
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
