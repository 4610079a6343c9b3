// Computes from counted operations what files of the exchange's data cost per month at Cloudflare's list prices.

import type { Compacted } from './files.node.ts'
import { FILLS_A_DAY, ROWS_A_FILL } from './kept-month.ts'

/** US dollars per million, and for a GB and a month: pages of prices of R2 and D1 as of November 2026. */
const PUT = 4.5
const GET = 0.36
const ROW_WRITTEN = 1
const ROW_READ = 0.001
const R2_GB = 0.015
/** Of what is seldom read, which months and the tables of days are. */
const R2_SELDOM_GB = 0.01
const D1_GB = 0.75
/** Of the paid plan, a month: for all that an account has. */
const INCLUDED = { puts: 1e6, gets: 10e6, rowsWritten: 50e6, d1Gb: 5, r2Gb: 10 } as const

/** Of the exchange. */
const KEYS_A_DAY = 50_300
const DAYS = 30
const MINUTES = DAYS * 24 * 60
/** How the Compactor does it: bytes that are read for an object, read at once and ahead, and that a row of a key tells of. */
const OBJECT_BYTES = 8 * 2 ** 20
const READ_BYTES = 2 ** 20
const AHEAD_BYTES = 16 * 2 ** 20
const ENTRY_BYTES = 128 * 2 ** 10
/** A row of a key's index, with its place in the index by file: three months of `indexOfMonth` in SQLite. */
const INDEX_BYTES = 190

export interface Counted extends Pick<Compacted, 'levels'> {
  /** Of a row in pages of a day. */
  readonly rowBytes: number
  /** Per fill, what is kept for years. */
  readonly keptBytes: number
  /** Per fill, in Parquet files. */
  readonly fillTableBytes: number
}

interface Month {
  readonly dollars: number
  readonly included: number
  /** A month, for each year that is kept. */
  readonly kept: number
  readonly does: string
}

interface Level {
  readonly files: number
  readonly sources: number
  readonly bytes: number
  readonly puts: number
  readonly rowsWritten: number
}

export function monthOf({ levels, rowBytes, keptBytes, fillTableBytes }: Counted): Month {
  const minute = levels.minute!
  const hour = levels.hour!
  const bytes = DAYS * FILLS_A_DAY * ROWS_A_FILL * rowBytes
  const keyRows = (files: number) => files * KEYS_A_DAY + bytes / ENTRY_BYTES
  // What is written in an index of its own counts again, and what is removed like what is written.
  const merged: readonly Level[] = [
    { files: DAYS * 24, sources: 60, bytes, puts: 3, rowsWritten: 2 * (hour.rowsWritten / hour.turns) },
    { files: DAYS, sources: 24, bytes, puts: 2, rowsWritten: (4 * keyRows(DAYS)) / objectsOf(DAYS, bytes) },
    { files: 1, sources: DAYS, bytes, puts: 1, rowsWritten: (2 * keyRows(1)) / objectsOf(1, bytes) },
  ]
  const sum = (of: (level: Level) => number) => merged.reduce((total, level) => total + of(level), 0)
  const puts = MINUTES + sum((level) => level.puts * objectsOf(level.files, level.bytes))
  const gets = sum((level) => objectsOf(level.files, level.bytes) * getsOf(level.sources))
  const rowsWritten =
    MINUTES * 2 * (minute.rowsWritten / minute.turns) +
    sum((level) => level.rowsWritten * objectsOf(level.files, level.bytes))
  // Days of two months, and the months of a year.
  const keptGb = (DAYS * FILLS_A_DAY * keptBytes) / 1e9
  const keptD1Gb = ((KEYS_A_DAY + (keptGb * 1e9) / ENTRY_BYTES) * INDEX_BYTES) / 1e9
  const d1Gb = (2 * keyRows(DAYS) * INDEX_BYTES) / 1e9 + 12 * keptD1Gb
  // By default, tables of fills are kept for 90 days.
  const r2Gb = keptGb + (3 * DAYS * FILLS_A_DAY * fillTableBytes) / 1e9
  const dollarsFor = (free: Readonly<Record<keyof typeof INCLUDED, number>>) => {
    const above = (used: number, name: keyof typeof INCLUDED) => Math.max(0, used - free[name])
    const operations = PUT * above(puts, 'puts') + GET * above(gets, 'gets')
    const rows = ROW_WRITTEN * above(rowsWritten, 'rowsWritten') + ROW_READ * MINUTES
    return (operations + rows) / 1e6 + R2_GB * above(r2Gb, 'r2Gb') + D1_GB * above(d1Gb, 'd1Gb')
  }
  const millions = (value: number) => `${(value / 1e6).toFixed(2)} million`
  return {
    dollars: dollarsFor({ puts: 0, gets: 0, rowsWritten: 0, d1Gb: 0, r2Gb: 0 }),
    included: dollarsFor(INCLUDED),
    kept: 12 * (R2_SELDOM_GB * keptGb + D1_GB * keptD1Gb),
    does:
      `${millions(puts)} writes and ${millions(gets)} reads of R2, ${millions(rowsWritten)} rows of D1, ` +
      `${r2Gb.toFixed(0)} GB in R2 (a row of a day's page ${rowBytes.toFixed(0)} B, a fill in tables ${fillTableBytes.toFixed(0)} B, for years ${keptBytes.toFixed(0)} B), ` +
      `${d1Gb.toFixed(1)} GB in D1`,
  }
}

const objectsOf = (files: number, bytes: number) => files * Math.ceil(bytes / files / OBJECT_BYTES)
/** For an object, out of so many files. */
const getsOf = (sources: number) =>
  sources + Math.ceil(OBJECT_BYTES / Math.min(READ_BYTES, Math.floor(AHEAD_BYTES / sources)))
