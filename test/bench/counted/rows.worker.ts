// Counts the billed operations of an object's storage: SQLite rows written, in tables or for keys and values, and
// alarms set.

export function countRows(storage: DurableObjectStorage, wrote: (rows: number) => void): void {
  const { sql, kv } = storage
  const exec = sql.exec.bind(sql)
  sql.exec = ((query: string, ...bindings: unknown[]) => {
    const cursor = exec(query, ...bindings)
    wrote(cursor.rowsWritten)
    return cursor
  }) as typeof sql.exec
  told(storage, 'setAlarm', () => wrote(1))
  for (const method of ['put', 'delete'] as const) {
    told(storage, method, ([keys]) => wrote(typeof keys === 'object' ? Object.keys(keys as object).length : 1))
    told(kv, method, () => wrote(1))
  }
}

/** Has each call of a method told first. */
function told<T extends object>(of: T, method: keyof T, tell: (args: readonly unknown[]) => void): void {
  const call = (of[method] as (...args: unknown[]) => unknown).bind(of)
  of[method] = ((...args: unknown[]) => {
    tell(args)
    return call(...args)
  }) as T[typeof method]
}
