// Tables of a CreditMeter: account, leases, grants, revoked keys, pipeline totals, and usage per hour (past days: per
// day) with its copy queue. Called inside one synchronous transaction per decision; ledger.ts has the rules.

import type { KeyHash } from '../core/ids.ts'
import { Tables } from '../core/tables.store.ts'
import { DAY_MS } from '../core/time.ts'
import { type AccountState, EMPTY_ACCOUNT } from './account-state.ts'
import type { Lease } from './ledger.ts'
import { hourOf, type UsageLine, type UsageRow } from './usage.ts'

/** How long a reclaimed lease is kept, so that late spending is counted once. */
const LEASE_MEMORY_MS = 3_600_000
/** Usage retention of 400 days: a year plus a month for comparison. */
const USAGE_MEMORY_MS = 400 * DAY_MS
/** Maximum number of days merged per run. The first run may find a year of them. */
const ROLLED_DAYS = 31

type LeaseRow = {
  id: string
  key_hash: KeyHash
  granted: number
  settled: number
  until: number
  open: number
  usage: string
}

interface StoredLease {
  readonly lease: Lease
  readonly usage: readonly UsageLine[]
}

export class MeterStore extends Tables {
  account(): AccountState {
    const row = this.first<Record<keyof AccountState, number>>(
      'SELECT available, held, spent, granted, written_off AS writtenOff FROM account',
    )
    return row ?? EMPTY_ACCOUNT
  }

  putAccount(a: AccountState): void {
    this.run(
      `INSERT INTO account VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET available = excluded.available,
       held = excluded.held, spent = excluded.spent, granted = excluded.granted, written_off = excluded.written_off`,
      a.available,
      a.held,
      a.spent,
      a.granted,
      a.writtenOff,
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
    return this.first<{ amount: number }>('SELECT amount FROM grants WHERE id = ?', id)?.amount ?? null
  }

  putGrant(id: string, amount: number, atMs: number): void {
    this.run('INSERT INTO grants VALUES (?, ?, ?)', id, amount, atMs)
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

  addUsage(keyHash: KeyHash, lines: readonly UsageLine[], nowMs: number): void {
    for (const { product, type, calls, amount } of lines) {
      this.run(
        `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET
         calls = calls + excluded.calls, amount = amount + excluded.amount, changes = changes + 1`,
        hourOf(nowMs),
        keyHash,
        product,
        type,
        calls,
        amount,
      )
      // Runs in the same transaction, so that every counted row is also copied.
      this.run(
        'INSERT INTO usage_due VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
        hourOf(nowMs),
        keyHash,
        product,
        type,
      )
    }
  }

  /** Rows changed since their last copy, oldest first, at most `limit`. */
  usageDue(limit: number): UsageRow[] {
    return this.all<UsageRow>(
      `SELECT u.hour, u.key_hash AS keyHash, u.product, u.type, u.calls, u.amount, u.changes
         FROM usage_due JOIN usage u USING (hour, key_hash, product, type) ORDER BY u.hour LIMIT ?`,
      limit,
    )
  }

  /** Marks rows as copied, except those changed meanwhile. */
  markUsageCopied(rows: readonly UsageRow[]): void {
    for (const { hour, keyHash, product, type, changes } of rows) {
      this.run(
        `DELETE FROM usage_due WHERE hour = ?1 AND key_hash = ?2 AND product = ?3 AND type = ?4 AND ?5 =
         (SELECT changes FROM usage WHERE hour = ?1 AND key_hash = ?2 AND product = ?3 AND type = ?4)`,
        hour,
        keyHash,
        product,
        type,
        changes,
      )
    }
  }

  /** Deletes expired rows. */
  prune(nowMs: number): void {
    this.run('DELETE FROM leases WHERE open = 0 AND until < ?', nowMs - LEASE_MEMORY_MS)
    this.run('DELETE FROM usage WHERE hour < ?', nowMs - USAGE_MEMORY_MS)
    this.run('DELETE FROM usage_due WHERE hour < ?', nowMs - USAGE_MEMORY_MS)
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
    if (this.has('SELECT 1 FROM usage_due WHERE hour < ? LIMIT 1', until)) return
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
