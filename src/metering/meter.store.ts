// Tables of a CreditMeter: account, leases, grants, revoked keys, pipeline totals, and usage per hour (past days: per
// day). Each decision is one synchronous transaction; ledger.ts has the rules. Rows that are written are the largest part
// of a meter's cost, so the account's row also has the usage of the current hour, and the newest calls.

import type { KeyHash } from '../core/ids.ts'
import { Tables } from '../core/tables.store.ts'
import { DAY_MS } from '../core/time.ts'
import { type AccountState, EMPTY_ACCOUNT } from './account-state.ts'
import type { Lease } from './ledger.ts'
import type { GrantFact } from './reconciliation.ts'
import { hourOf, type UsageLine, type UsageRow } from './usage.ts'

/** How long a reclaimed lease is kept, so that late spending is counted once. */
const LEASE_MEMORY_MS = 3_600_000
/** Usage retention of 400 days: a year plus a month for comparison. */
const USAGE_MEMORY_MS = 400 * DAY_MS
/** Maximum number of days merged per run. The first run may find a year of them. */
const ROLLED_DAYS = 31
/** Maximum number of usage lines in the account's row, each of about 200 bytes. */
const LINES_MAX = 64

type LeaseRow = {
  id: string
  key_hash: KeyHash
  granted: number
  settled: number
  until: number
  open: number
  usage: string
}

/** Usage of a key in one hour by product and type. */
interface HourLine extends UsageLine {
  readonly keyHash: KeyHash
  /** Number of changes that the sums include. */
  readonly changes: number
}

/** The account's row: its balance, the usage of one hour that is not in `usage` yet, and the newest calls. */
interface AccountRow {
  readonly account: AccountState
  readonly hour: number
  readonly lines: readonly HourLine[]
  readonly uncopiedMs: number
  /** Text of the newest part of the request log; empty before its first call. */
  readonly log: string
  /** Text of the calls of the last hour by minute; empty if no rule of an alert counts calls. */
  readonly minutes: string
}

interface StoredLease {
  readonly lease: Lease
  readonly usage: readonly UsageLine[]
}

export type MeterStorage = Pick<DurableObjectStorage, 'sql' | 'transactionSync'>

export class MeterStore extends Tables {
  readonly #storage: MeterStorage
  #isOpen = false
  /** The account's row in the current transaction, once it was read. */
  #row: AccountRow | null = null
  #isChanged = false
  /** Changes of usage since the object started: all, and those that may be of copied hours. */
  readonly #changes = { all: 0, late: 0 }

  constructor(storage: MeterStorage) {
    super(storage.sql)
    this.#storage = storage
  }

  /** Runs a transaction. Everything that it changes in the balance and in this hour's usage is written as one row. */
  transact<T>(run: () => T): T {
    this.#isOpen = true
    try {
      return this.#storage.transactionSync(() => {
        const result = run()
        if (this.#row !== null && this.#isChanged) this.#write(this.#row)
        return result
      })
    } finally {
      this.#isOpen = false
      this.#row = null
      this.#isChanged = false
    }
  }

  account(): AccountState {
    return this.#read().account
  }

  /** Runs inside `transact`. */
  putAccount(account: AccountState): void {
    this.#change({ account })
  }

  log(): string {
    return this.#read().log
  }

  /** Runs inside `transact`. */
  putLog(log: string): void {
    this.#change({ log })
  }

  minutes(): string {
    return this.#read().minutes
  }

  /** Runs inside `transact`. */
  putMinutes(minutes: string): void {
    this.#change({ minutes })
  }

  #read(): AccountRow {
    const row = this.#row ?? this.#stored()
    if (this.#isOpen) this.#row = row
    return row
  }

  #stored(): AccountRow {
    type Stored = AccountState &
      Pick<AccountRow, 'hour' | 'uncopiedMs' | 'log' | 'minutes'> & { readonly usage: string }
    const stored = this.first<Stored>(
      `SELECT available, held, spent, granted, written_off AS writtenOff, hour, usage, uncopied AS uncopiedMs, log,
         minutes FROM account`,
    )
    if (stored === undefined) return { account: EMPTY_ACCOUNT, hour: 0, lines: [], uncopiedMs: 0, log: '', minutes: '' }
    const { hour, usage, uncopiedMs, log, minutes, ...account } = stored
    return { account, hour, lines: JSON.parse(usage), uncopiedMs, log, minutes }
  }

  #change(change: Partial<AccountRow>): void {
    if (!this.#isOpen) throw new Error('the account changes only inside a transaction')
    this.#row = { ...this.#read(), ...change }
    this.#isChanged = true
  }

  #write({ account: a, hour, lines, uncopiedMs, log, minutes }: AccountRow): void {
    this.run(
      // The columns are named, so that an object of this version can use a table that a later one has extended.
      `INSERT INTO account (one, available, held, spent, granted, written_off, hour, usage, uncopied, log, minutes)
       VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET
       available = excluded.available, held = excluded.held, spent = excluded.spent, granted = excluded.granted,
       written_off = excluded.written_off, hour = excluded.hour, usage = excluded.usage, uncopied = excluded.uncopied,
       log = excluded.log, minutes = excluded.minutes`,
      ...[a.available, a.held, a.spent, a.granted, a.writtenOff, hour, JSON.stringify(lines), uncopiedMs, log, minutes],
    )
  }

  /** Highest balance in the plan's period. */
  peak(): number {
    return this.first<{ micro: number }>('SELECT micro FROM most')?.micro ?? 0
  }

  /** Records that the balance grew, or that a new period started with this balance. */
  recordPeak(left: number, isNewPeriod: boolean): void {
    const highest = isNewPeriod ? left : Math.max(left, this.peak())
    this.run('INSERT OR REPLACE INTO most VALUES (1, ?)', highest)
  }

  lease(id: string): StoredLease | null {
    const row = this.first<LeaseRow>('SELECT * FROM leases WHERE id = ?', id)
    return row === undefined ? null : storedLease(row)
  }

  putLease({ lease, usage }: StoredLease): void {
    this.run(
      `INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET granted = excluded.granted,
       settled = excluded.settled, until = excluded.until, open = excluded.open, usage = excluded.usage`,
      lease.id,
      lease.keyHash,
      lease.granted,
      lease.settled,
      lease.untilMs,
      lease.open ? 1 : 0,
      JSON.stringify(usage),
    )
  }

  /** The isolate closed the lease after reporting everything. Later reports under its id are repeats. */
  dropLease(id: string): void {
    this.run('DELETE FROM leases WHERE id = ?', id)
  }

  /** Open leases with a deadline at or before `untilMs`. */
  overdue(untilMs: number): StoredLease[] {
    return this.all<LeaseRow>(
      'SELECT * FROM leases WHERE open = 1 AND until <= ? ORDER BY until LIMIT 1000',
      untilMs,
    ).map(storedLease)
  }

  /** Earliest deadline of an open lease; null if none is open. */
  firstDeadline(): number | null {
    return this.one<{ until: number | null }>('SELECT min(until) AS until FROM leases WHERE open = 1').until
  }

  grantAmount(id: string): number | null {
    const select = 'SELECT amount FROM grants WHERE id = ?1 UNION ALL SELECT amount FROM included WHERE id = ?1'
    return this.first<{ amount: number }>(select, id)?.amount ?? null
  }

  /** Newest grants first. */
  grants(limit: number): GrantFact[] {
    return this.all<{ id: string; micro: number; atMs: number }>(
      `SELECT id, amount AS micro, at AS atMs FROM (SELECT * FROM grants UNION ALL SELECT * FROM included)
       ORDER BY at DESC, id LIMIT ?`,
      limit,
    )
  }

  putGrant(id: string, amount: number, atMs: number): void {
    this.run('INSERT INTO grants VALUES (?, ?, ?)', id, amount, atMs)
  }

  /** Grants and usage that an imported balance already contains. Statements do not count them. */
  putIncluded(grants: readonly GrantFact[], used: number): void {
    for (const { id, micro, atMs } of grants) this.run('INSERT INTO included VALUES (?, ?, ?)', id, micro, atMs)
    this.run('INSERT INTO imported VALUES (1, ?)', used)
  }

  usedBeforeImport(): number {
    return this.first<{ used: number }>('SELECT used FROM imported')?.used ?? 0
  }

  /** Pipeline totals already charged or written off. */
  pipelineSums(id: string): { readonly rows: number; readonly spent: number } {
    const select = 'SELECT rows, spent FROM pipelines WHERE id = ?'
    return this.first<{ rows: number; spent: number }>(select, id) ?? { rows: 0, spent: 0 }
  }

  putPipelineSums(id: string, { rows, spent }: { readonly rows: number; readonly spent: number }): void {
    this.run('INSERT OR REPLACE INTO pipelines VALUES (?, ?, ?)', id, rows, spent)
  }

  isRevoked(keyHash: KeyHash): boolean {
    return this.has('SELECT 1 FROM revoked WHERE key_hash = ?', keyHash)
  }

  putRevoked(keyHash: KeyHash, atMs: number): void {
    this.run('INSERT INTO revoked VALUES (?, ?) ON CONFLICT DO NOTHING', keyHash, atMs)
  }

  /** Counts usage of the hour of `atMs`, which may be before that of `nowMs`. Runs inside `transact`. */
  addUsage(keyHash: KeyHash, added: readonly UsageLine[], nowMs: number, atMs = nowMs): void {
    if (added.length === 0) return
    const hour = hourOf(nowMs)
    this.settleUsage(hour)
    this.#changes.all++
    const { uncopiedMs, lines } = this.#read()
    const change = { uncopiedMs: Math.min(uncopiedMs || nowMs, nowMs) }
    if (hourOf(atMs) < hour) {
      for (const line of added) this.#addRow(hourOf(atMs), { ...line, keyHash, changes: 1 })
      this.#reopen(hourOf(atMs))
      this.#change(change)
    } else {
      // The clock may have been set back to an hour that was copied.
      if (lines.length === 0) this.#reopen(hour)
      this.#change({ ...change, hour, lines: added.reduce((all, line) => addLine(all, keyHash, line), lines) })
    }
  }

  /** Usage from this hour on is copied again. */
  #reopen(hour: number): void {
    this.#changes.late++
    this.run('UPDATE copied SET hour = ?1 WHERE hour > ?1', hour)
  }

  /**
   * Moves usage from the account's row to the rows that reports read: that of hours other than `hour`, or all of it if
   * there are many lines. Runs inside `transact`.
   */
  settleUsage(hour = Number.POSITIVE_INFINITY): void {
    const { hour: counted, lines } = this.#read()
    if (lines.length === 0 || (counted === hour && lines.length <= LINES_MAX)) return
    for (const line of lines) this.#addRow(counted, line)
    this.#change({ lines: [] })
  }

  #addRow(hour: number, { keyHash, product, type, calls, amount, changes }: HourLine): void {
    this.run(
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       calls = calls + excluded.calls, amount = amount + excluded.amount, changes = changes + excluded.changes`,
      ...[hour, keyHash, product, type, calls, amount, changes],
    )
  }

  /** Start of the last hour with usage; null if there is none. */
  lastUsedMs(): number | null {
    return this.#stored().hour || null
  }

  /** Time of the first change that is not copied; 0 if everything is copied. */
  uncopiedMs(): number {
    return this.#stored().uncopiedMs
  }

  /** Number of changes so far, to be passed to `markCopied`. */
  changes(): { readonly all: number; readonly late: number } {
    return { ...this.#changes }
  }

  /** Rows of hours that may have changed since their last copy, after a row, oldest first, at most `limit`. */
  usageToCopy(after: UsageRow | null, limit: number): UsageRow[] {
    const { hour = 0, keyHash = '', product = '', type = '' } = after ?? {}
    return this.all<UsageRow>(
      `SELECT hour, key_hash AS keyHash, product, type, sum(calls) AS calls, sum(amount) AS amount,
         sum(changes) AS changes
       FROM (SELECT * FROM usage WHERE hour >= (SELECT coalesce(max(hour), 0) FROM copied) AND hour >= ?1
         UNION ALL SELECT account.hour, value ->> 'keyHash', value ->> 'product', value ->> 'type',
           value ->> 'calls', value ->> 'amount', value ->> 'changes' FROM account, json_each(account.usage))
       GROUP BY 1, 2, 3, 4 HAVING (hour, keyHash, product, type) > (?1, ?2, ?3, ?4) ORDER BY 1, 2, 3, 4 LIMIT ?5`,
      ...[hour, keyHash, product, type, limit],
    )
  }

  /** Everything was copied that had changed before `startMs`, when there were this many changes. */
  markCopied(startMs: number, before: { readonly all: number; readonly late: number }): void {
    this.transact(() => {
      if (this.#changes.late === before.late) this.#putCopiedHour(hourOf(startMs))
      this.#change({ uncopiedMs: this.#changes.all === before.all ? 0 : startMs })
    })
  }

  /** All hours before this one are copied. */
  #putCopiedHour(hour: number): void {
    this.run(
      'INSERT INTO copied VALUES (1, ?) ON CONFLICT DO UPDATE SET hour = excluded.hour WHERE hour < excluded.hour',
      hour,
    )
  }

  /** Deletes expired rows. */
  prune(nowMs: number): void {
    this.run('DELETE FROM leases WHERE open = 0 AND until < ?', nowMs - LEASE_MEMORY_MS)
    this.run('DELETE FROM usage WHERE hour < ?', nowMs - USAGE_MEMORY_MS)
    this.#rollUp(nowMs)
  }

  /**
   * Merges the hourly rows of each day that ended at least a day ago, once they are copied. Fewer rows make reports
   * faster, and all calls wait while a report reads.
   */
  #rollUp(nowMs: number): void {
    const ended = nowMs - (nowMs % DAY_MS) - DAY_MS
    const select = 'SELECT coalesce((SELECT until FROM rolled), min(hour)) AS since FROM usage'
    const { since } = this.one<{ since: number | null }>(select)
    if (since === null || since >= ended) return
    const until = Math.min(ended, since - (since % DAY_MS) + ROLLED_DAYS * DAY_MS)
    if (this.uncopiedMs() !== 0 && !this.has('SELECT 1 FROM copied WHERE hour >= ?', until)) return
    const hours = `hour >= ?1 AND hour < ?2 AND hour % ${DAY_MS} > 0`
    this.run(
      `INSERT INTO usage SELECT hour - hour % ${DAY_MS} AS day, key_hash, product, type, sum(calls), sum(amount), sum(changes)
       FROM usage WHERE ${hours} GROUP BY day, key_hash, product, type
       ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, amount = amount + excluded.amount,
         changes = changes + excluded.changes`,
      since,
      until,
    )
    this.run(`DELETE FROM usage WHERE ${hours}`, since, until)
    this.run('INSERT OR REPLACE INTO rolled VALUES (1, ?)', until)
  }

  /** True while there are leases that `prune` must delete later. Usage is pruned in the same run. */
  hasMortalRows(): boolean {
    return this.has('SELECT 1 FROM leases LIMIT 1')
  }
}

function storedLease(row: LeaseRow): StoredLease {
  const { id, key_hash: keyHash, granted, settled, until: untilMs, open, usage } = row
  return { lease: { id, keyHash, granted, settled, untilMs, open: open === 1 }, usage: JSON.parse(usage) }
}

function addLine(lines: readonly HourLine[], keyHash: KeyHash, added: UsageLine): HourLine[] {
  const { product, type, calls, amount } = added
  const isSame = (line: HourLine) => line.keyHash === keyHash && line.product === product && line.type === type
  const known = lines.find(isSame) ?? { keyHash, product, type, calls: 0, amount: 0, changes: 0 }
  const sum = { ...known, calls: known.calls + calls, amount: known.amount + amount, changes: known.changes + 1 }
  return [...lines.filter((line) => !isSame(line)), sum]
}
