// The SQLite database of the Monitor (core/migrate.store.ts).

export const MONITOR_SCHEMA = [
  `CREATE TABLE hours (hour INTEGER NOT NULL, component TEXT NOT NULL, checks INTEGER NOT NULL, failed INTEGER NOT NULL,
   times TEXT NOT NULL, PRIMARY KEY (hour, component)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE figures (at INTEGER PRIMARY KEY, figures TEXT NOT NULL) STRICT;
   CREATE TABLE alerts (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL,
   event TEXT NOT NULL, delivery TEXT NOT NULL, attempts INTEGER NOT NULL, answer TEXT) STRICT`,
]
