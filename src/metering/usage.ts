// Usage as cumulative lines per lease, aggregated per hour. Invariant: repeated and late reports are counted once.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import { HOUR_MS } from '../core/time.ts'

/** Cumulative usage of one (product, type) under a lease. */
export interface UsageLine {
  readonly product: string
  readonly type: string
  readonly calls: number
  readonly amount: MicroCredits
}

export interface UsageRow extends UsageLine {
  readonly hour: number
  /** Number of changes to the row. A refund lowers the sums, so the largest sums need not be the newest. */
  readonly changes: number
  readonly keyHash: KeyHash
}

/** `calls`: successful requests; `minutes`: subscription minutes that have started; `rows`: pipeline rows. */
export interface UsageSum {
  readonly calls: number
  readonly minutes: number
  readonly rows: number
  readonly amount: MicroCredits
}

/** The same hours grouped in three ways; the total is the same in each. */
export interface UsageReport {
  /** Start of the day in Unix ms; oldest first. */
  readonly byDay: readonly (UsageSum & { readonly day: number })[]
  /** Sorted by spending, highest first, here and below. */
  readonly byKey: readonly (UsageSum & { readonly keyHash: KeyHash })[]
  readonly byType: readonly (UsageSum & { readonly product: string; readonly type: string })[]
}

/** Cursor of a detailed usage row; rows are sorted by these four fields. */
export interface UsagePosition {
  readonly day: number
  readonly keyHash: KeyHash
  readonly product: string
  readonly type: string
}
export type UsageRecord = UsageSum & UsagePosition

export interface UsagePage {
  readonly total: UsageSum
  readonly rows: readonly UsageRecord[]
}

/** Usage of a key or type on a day. An empty `part` is the sum of all parts that are not among the highest. */
export interface StackedUsage {
  readonly day: number
  readonly part: string
  readonly amount: MicroCredits
}

/** Adds usage sums. */
export function sumOfUsage(sums: readonly UsageSum[]): UsageSum {
  const sumOf = (name: keyof UsageSum) => sums.reduce((sum, each) => sum + each[name], 0)
  return { calls: sumOf('calls'), minutes: sumOf('minutes'), rows: sumOf('rows'), amount: sumOf('amount') }
}

/**
 * Gateway method called by a meter, since only the gateway has D1: stores rows with the sums of their hour so far.
 * Idempotent.
 */
export interface UsageSink {
  storeUsage(rows: readonly UsageRow[]): Promise<void>
}

/** Usage is copied to D1 this often. An hour's end is the end of such a period, so the last copy of an hour is final. */
const COPY_EVERY_MS = 10 * 60_000

/** Time of the next copy after a change, before the meter's own delay. */
export function nextCopyMs(changedMs: number): number {
  return (Math.floor(changedMs / COPY_EVERY_MS) + 1) * COPY_EVERY_MS
}

/** Start of the hour in Unix ms. */
export function hourOf(nowMs: number): number {
  return Math.floor(nowMs / HOUR_MS) * HOUR_MS
}

/** Increase of `next` over `before`, and the maximum of both per (product, type). */
export function mergeUsage(
  before: readonly UsageLine[],
  next: readonly UsageLine[],
): { readonly added: readonly UsageLine[]; readonly merged: readonly UsageLine[] } {
  const merged = new Map(before.map((line) => [nameOf(line), line]))
  const added: UsageLine[] = []
  for (const line of next) {
    const old = merged.get(nameOf(line))
    const calls = line.calls - (old?.calls ?? 0)
    if (calls <= 0) continue
    added.push({ product: line.product, type: line.type, calls, amount: line.amount - (old?.amount ?? 0) })
    merged.set(nameOf(line), line)
  }
  return { added, merged: [...merged.values()] }
}

function nameOf(line: UsageLine): string {
  return `${line.product} ${line.type}`
}
