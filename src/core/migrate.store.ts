// The schema of a Durable Object's SQLite in numbered steps: `schema_version` says which of them the storage of an object
// has. From the first release on a step that was released is never changed: a change is one more step.

/** Brings the storage to the newest step; what a newer version of the code has added stays. */
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
