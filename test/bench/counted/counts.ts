// The platform operations of a gateway under load, in the units that the platform bills.

/** Sums since the last look. */
export interface Counts {
  kvReads: number
  kvWrites: number
  d1Statements: number
  /** Calls of a meter while a request waited for the answer. */
  meterWaits: number
  /** All other calls of a meter: reports. */
  meterReports: number
  /** SQLite rows that meters wrote, and alarms that they set, each billed as a row. */
  rowsWritten: number
}

export function noCounts(): Counts {
  return { kvReads: 0, kvWrites: 0, d1Statements: 0, meterWaits: 0, meterReports: 0, rowsWritten: 0 }
}

/** What the objects of a class were asked, and did, since the last look. */
export interface ObjectCounts {
  /** Calls, upgrades and alarms. */
  requests: number
  /** Frames that came over WebSockets: twenty are billed as a request. */
  messages: number
  /** SQLite rows that they wrote, and alarms that they set, each billed as a row. */
  rowsWritten: number
  /** Which of them were asked anything. */
  names: readonly string[]
}

export type ObjectClass = 'BlockLog' | 'BookHub' | 'Relay' | 'CreditMeter' | 'SourceBudget'

/** What `GET /counts` answers. */
export interface TakenCounts extends Counts {
  readonly objects: Readonly<Partial<Record<ObjectClass, ObjectCounts>>>
}
