// Usage as cumulative lines per lease, rolled up per hour. Law: a repeated or late report adds nothing twice.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import { HOUR_MS } from '../core/time.ts'

/** What one (product, type) has cost under a lease so far: cumulative, so a repeated report changes nothing. */
export interface UsageLine {
  readonly product: string
  readonly type: string
  readonly calls: number
  readonly amount: MicroCredits
}

export interface UsageRow extends UsageLine {
  readonly hour: number
  /** How often the row has changed: a refund lowers its sums, so that the largest need not be the newest. */
  readonly changes: number
  readonly keyHash: KeyHash
}

/** What was used: `calls` are answered requests, `minutes` started minutes of subscriptions, `rows` those of pipelines. */
export interface UsageSum {
  readonly calls: number
  readonly minutes: number
  readonly rows: number
  readonly amount: MicroCredits
}

/** The same hours by three measures; each adds up to the same sum. */
export interface UsageReport {
  /** Unix ms of the start of the day; oldest first. */
  readonly byDay: readonly (UsageSum & { readonly day: number })[]
  /** Those that spent most come first, here and below. */
  readonly byKey: readonly (UsageSum & { readonly keyHash: KeyHash })[]
  readonly byType: readonly (UsageSum & { readonly product: string; readonly type: string })[]
}

/** A row of the report that has all three, and its place: rows are in the order of these four. */
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

/** What a key or a type used on a day; `part` empty: all that are not among those that spent most. */
export interface StackedUsage {
  readonly day: number
  readonly part: string
  readonly amount: MicroCredits
}

/** The sum of these. */
export function sumOfUsage(sums: readonly UsageSum[]): UsageSum {
  const sumOf = (name: keyof UsageSum) => sums.reduce((sum, each) => sum + each[name], 0)
  return { calls: sumOf('calls'), minutes: sumOf('minutes'), rows: sumOf('rows'), amount: sumOf('amount') }
}

/** What a meter asks of the gateway, which has D1: rows with the sum of their hour so far. Again is the same. */
export interface UsageSink {
  storeUsage(rows: readonly UsageRow[]): Promise<void>
}

/** Start of the hour in Unix ms. */
export function hourOf(nowMs: number): number {
  return Math.floor(nowMs / HOUR_MS) * HOUR_MS
}

/** What `next` has beyond `before`, and the highest of both per (product, type) to remember. */
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
