// How the owner's page says things: forecast, keys and their states, columns of a chart. Law: amounts are whole micro-credits, from
// exact text; nothing is counted in fractions.

import { DAY_MS } from '../../core/time.ts'
import { dayText, durationText, timeText } from '../ui/format.ts'
import type { StackedColumn } from '../ui/stacked-bars.ts'
import type { Account, Key, Usage } from './responses.ts'

/** Credits as exact text to micro-credits. */
export function microOf(credits: string): bigint {
  const [, sign, whole = '0', rest = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(credits) ?? []
  const micro = BigInt(whole) * 1_000_000n + BigInt(rest.padEnd(6, '0'))
  return sign === '-' ? -micro : micro
}

/** When credits end, in a sentence. */
export function forecastText({ forecast: { ends, why }, credits_a_day: perDay }: Account, nowMs: number): string {
  switch (why) {
    case 'spent':
      return 'No credits are left: calls are refused until the account is topped up or its plan renews.'
    case 'used_up':
      return `At ${perDay} credits a day they end on ${dayText(ends ?? nowMs)} UTC, in ${durationText((ends ?? nowMs) - nowMs)}.`
    case 'unused':
      return 'Nothing was spent of late: they do not end.'
    case 'renewed':
      return `At ${perDay} credits a day they do not end: the plan brings more than that.`
    case 'far':
      return `At ${perDay} credits a day they last more than ten years.`
  }
}

type KeyState = 'live' | 'revoked' | 'expired' | 'replaced'

function stateOf({ revoked, expires, replaced_by: heir }: Key, nowMs: number): KeyState {
  const isOver = revoked !== null || (expires !== null && expires <= nowMs)
  if (!isOver) return 'live'
  if (heir !== null) return 'replaced'
  return revoked === null ? 'expired' : 'revoked'
}

/** The state with its time. */
export function stateText(key: Key, nowMs: number): string {
  const state = stateOf(key, nowMs)
  if (state === 'revoked') return `revoked ${timeText(key.revoked ?? 0)}`
  if (state === 'expired' || state === 'replaced') return `${state} ${timeText(key.revoked ?? key.expires ?? 0)}`
  const ends = key.expires === null ? '' : `, ends ${timeText(key.expires)}`
  return `live${ends}${key.replaced_by === null ? '' : ' (replaced)'}`
}

/** Keys that a search finds: by label, prefix or range; `live` alone unless all are asked for. */
export function filterKeys(keys: readonly Key[], words: string, isAll: boolean, nowMs: number): readonly Key[] {
  const sought = words.trim().toLowerCase()
  return keys.filter((key) => {
    if (!isAll && stateOf(key, nowMs) !== 'live') return false
    const texts = [key.label, key.prefix, key.hash, ...(key.ranges ?? [])]
    return sought === '' || texts.some((text) => text.toLowerCase().includes(sought))
  })
}

const PARTS_MAX = 7
const OTHERS = 'others'

/** A column a day, days without use among them, and the names of its parts: those that cost most first, the rest in one. */
export function usageColumns({ by_day: days, period }: Usage): { columns: StackedColumn[]; parts: string[] } {
  const sums = new Map<string, bigint>()
  const nameOf = ({ part, label }: { part: string; label: string }) =>
    part === '' ? OTHERS : label === '' ? part : `${label} (${part})`
  for (const part of days.flatMap(({ parts = [] }) => parts))
    sums.set(nameOf(part), (sums.get(nameOf(part)) ?? 0n) + microOf(part.credits))
  const named = [...sums].filter(([name]) => name !== OTHERS).sort(([, a], [, b]) => (b > a ? 1 : b < a ? -1 : 0))
  const shown = named.slice(0, PARTS_MAX).map(([name]) => name)
  const parts = sums.size > shown.length ? [...shown, OTHERS] : shown
  const used = new Map(days.map((day) => [day.date, day]))
  const columns = daysIn(period).map((name) => {
    const values: Record<string, number> = {}
    for (const part of used.get(name)?.parts ?? []) {
      const own = nameOf(part)
      const at = shown.includes(own) ? own : OTHERS
      // Sums of micro-credits are whole and below 2^53.
      values[at] = (values[at] ?? 0) + Number(microOf(part.credits))
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
  /** Of a service key; empty: what its restrictions say. */
  readonly pipelines: string
  /** A day, or empty. */
  readonly expires: string
}

/** An order for /platform/keys/. Of a key that is changed what differs is sent, and what was emptied is taken away; amounts go as typed. */
export function keyInput(
  { label, cap, ranges, expires, pipelines }: KeyFields,
  products: readonly string[],
  known?: Key,
) {
  const order = {
    label,
    products,
    cap: cap.trim() || null,
    ranges: rangeList(ranges),
    pipelines: pipelines || null,
    expires: expires === '' ? null : Date.parse(`${expires}T00:00:00Z`),
  }
  const before = known ?? { label: '', products: null, cap: null, ranges: null, pipelines: null, expires: null }
  const isKept = (name: keyof typeof order) =>
    JSON.stringify(order[name]) === JSON.stringify(before[name]) ||
    // The form shows days: an end within the day stays.
    (name === 'expires' && known?.expires != null && new Date(known.expires).toISOString().slice(0, 10) === expires)
  const names = (Object.keys(order) as (keyof typeof order)[]).filter((name) => !isKept(name))
  return Object.fromEntries(names.map((name) => [name, order[name]]))
}

function rangeList(ranges: string): readonly string[] | null {
  const list = ranges.split(/[\s,]+/).filter((range) => range !== '')
  return list.length === 0 ? null : list
}
