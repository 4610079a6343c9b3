// Counts what an object's storage is billed for: SQLite rows that it writes, and alarms that it sets.

export function countRows(storage: DurableObjectStorage, wrote: (rows: number) => void): void {
  const { sql } = storage
  const exec = sql.exec.bind(sql)
  const setAlarm = storage.setAlarm.bind(storage)
  sql.exec = ((query: string, ...bindings: unknown[]) => {
    const cursor = exec(query, ...bindings)
    wrote(cursor.rowsWritten)
    return cursor
  }) as typeof sql.exec
  storage.setAlarm = (at, options) => {
    wrote(1)
    return setAlarm(at, options)
  }
}
