// Derives what the owner page shows: forecast, key states, chart columns and form input. Invariant: amounts are parsed
// from exact strings into whole micro-credits, never into fractions.

import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import { dateText, dayText, groupedText, timeText } from '../ui/format.ts'
import type { StackedColumn } from '../ui/stacked-bars.ts'
import type { Account, Key, Usage } from './responses.ts'
import * as strings from './strings.ts'
import { KEY_ENDS } from './strings.ts'

/** Parses an exact credits string into micro-credits. */
export function microOf(credits: string): bigint {
  const [, sign, whole = '0', rest = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(credits) ?? []
  const micro = BigInt(whole) * 1_000_000n + BigInt(rest.padEnd(6, '0'))
  return sign === '-' ? -micro : micro
}

/** `amount × times / per` of a price such as `19.00`, with as many digits after the point, half a unit rounded up. */
export function scaledPrice(amount: string, times: bigint, per = 1n): string {
  const [whole = '', rest = ''] = amount.split('.')
  const minor = (2n * BigInt(whole + rest) * times + per) / (2n * per)
  const digits = String(minor).padStart(rest.length + 1, '0')
  const point = digits.length - rest.length
  return rest === '' ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
}

export function forecastText(
  { forecast: { ends, why }, credits_a_day: perDay, period }: Account,
  nowMs: number,
): string {
  const atMs = ends ?? nowMs
  switch (why) {
    case 'spent':
      return strings.forecastSpent
    case 'used_up':
      // The end of the plan is not the result of usage.
      if (microOf(perDay) === 0n) return strings.forecastExpires(dateText(atMs))
      if (atMs === period?.until) return strings.forecastExpiresFirst(groupedText(perDay), dateText(atMs))
      return strings.forecastUsedUp(dateText(atMs), daysText(atMs - nowMs))
    case 'unused':
      return strings.forecastUnused
    case 'renewed':
      return strings.forecastRenewed(groupedText(perDay))
    case 'far':
      return strings.forecastFar(groupedText(perDay))
  }
}

const daysText = (ms: number) => (ms < DAY_MS ? strings.forecastHours : strings.forecastDays(Math.floor(ms / DAY_MS)))

type KeyState = 'active' | 'revoked' | 'expired' | 'replaced'

function stateOf({ revoked, expires, replaced_by: successor }: Key, nowMs: number): KeyState {
  const hasEnded = revoked !== null || (expires !== null && expires <= nowMs)
  if (!hasEnded) return 'active'
  if (successor !== null) return 'replaced'
  return revoked === null ? 'expired' : 'revoked'
}

/** Whether the key can still be used. */
export const isActive = (key: Key, nowMs: number): boolean => stateOf(key, nowMs) === 'active'

/** The state of a key, and its time if it has one. */
export function stateLines(key: Key, nowMs: number): readonly string[] {
  const state = stateOf(key, nowMs)
  if (state !== 'active') return [KEY_ENDS[state], timeText(key.revoked ?? key.expires ?? 0)]
  if (key.expires === null) return [strings.keysActive]
  const text = key.replaced_by === null ? strings.keysActive : strings.keysReplaced
  return [text, strings.keysUntil(timeText(key.expires))]
}

/** The day and the hour in which a key was last used. Its credits are known up to 15 minutes before the hour. */
export function lastUsedLines({ last_used: hourMs, spent_30_days: spent }: Key, nowMs: number): readonly string[] {
  if (hourMs === null) return [microOf(spent ?? '0') > 0n ? strings.keysJustUsed : strings.keysUnused]
  const day = dayText(hourMs) === dayText(nowMs) ? strings.keysToday : dateText(hourMs)
  return [day, strings.keysUsedHour(clockText(hourMs), clockText(hourMs + HOUR_MS))]
}

const clockText = (ms: number) => timeText(ms).slice(11, 16)

/** Keys that match a search by label, prefix, hash or address range; only active ones unless `isAll`. */
export function filterKeys(keys: readonly Key[], search: string, isAll: boolean, nowMs: number): readonly Key[] {
  const needle = search.trim().toLowerCase()
  return keys.filter((key) => {
    if (!isAll && !isActive(key, nowMs)) return false
    const texts = [key.label, key.prefix, key.hash, ...(key.ranges ?? [])]
    return needle === '' || texts.some((text) => text.toLowerCase().includes(needle))
  })
}

const PARTS_MAX = 7

/** One column per day, including days without usage, and its parts: the most expensive first, the rest combined. */
export function usageColumns({ by_day: days, period }: Usage): { columns: StackedColumn[]; parts: string[] } {
  const sums = new Map<string, bigint>()
  const nameOf = ({ part, label }: { part: string; label: string }) =>
    part === '' ? strings.usageOther : label === '' ? part : `${label} (${part})`
  for (const part of days.flatMap(({ parts = [] }) => parts))
    sums.set(nameOf(part), (sums.get(nameOf(part)) ?? 0n) + microOf(part.credits))
  const named = [...sums]
    .filter(([name]) => name !== strings.usageOther)
    .sort(([, a], [, b]) => (b > a ? 1 : b < a ? -1 : 0))
  const shown = named.slice(0, PARTS_MAX).map(([name]) => name)
  const parts = sums.size > shown.length ? [...shown, strings.usageOther] : shown
  const used = new Map(days.map((day) => [day.date, day]))
  const columns = daysIn(period).map((name) => {
    const values: Record<string, number> = {}
    for (const part of used.get(name)?.parts ?? []) {
      const own = nameOf(part)
      const name = shown.includes(own) ? own : strings.usageOther
      // Sums of micro-credits stay below 2^53.
      values[name] = (values[name] ?? 0) + Number(microOf(part.credits))
    }
    return { name, parts: values }
  })
  return { columns, parts }
}

function daysIn({ from, to }: Usage['period']): string[] {
  const days: string[] = []
  for (let ms = Date.parse(`${from}T00:00:00Z`); ms <= Date.parse(`${to}T00:00:00Z`); ms += DAY_MS)
    days.push(dayText(ms))
  return days
}

interface KeyFields {
  readonly label: string
  readonly cap: string
  readonly ranges: string
  /** Scope of a service key; empty: derived from its restrictions. */
  readonly pipelines: string
  /** A UTC day, or empty. */
  readonly expires: string
}

/** The body for /platform/keys/. For an existing key, it has only changed fields, with null for emptied fields; amounts are sent as typed. */
export function keyInput(
  { label, cap, ranges, expires, pipelines }: KeyFields,
  products: readonly string[],
  known?: Key,
) {
  const input = {
    label,
    products,
    cap: cap.trim() || null,
    ranges: rangeList(ranges),
    pipelines: pipelines || null,
    expires: expires === '' ? null : Date.parse(`${expires}T00:00:00Z`),
  }
  const before = known ?? { label: '', products: null, cap: null, ranges: null, pipelines: null, expires: null }
  const isUnchanged = (name: keyof typeof input) =>
    JSON.stringify(input[name]) === JSON.stringify(before[name]) ||
    // The form shows days; a time within the same day is kept.
    (name === 'expires' && known?.expires != null && new Date(known.expires).toISOString().slice(0, 10) === expires)
  const names = (Object.keys(input) as (keyof typeof input)[]).filter((name) => !isUnchanged(name))
  return Object.fromEntries(names.map((name) => [name, input[name]]))
}

function rangeList(ranges: string): readonly string[] | null {
  const list = ranges.split(/[\s,]+/).filter((range) => range !== '')
  return list.length === 0 ? null : list
}
