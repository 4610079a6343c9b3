// The states of archived days and hours, from the coverage and the gaps of a chain; and how a calendar of them is read
// with the keyboard. Times are UTC.

import type { Responses } from '../responses.ts'
import { dateText, groupedText, timeText } from '../ui/format.ts'
import { coverageText } from './data-strings.ts'

export type Coverage = Responses['historyCoverage']
export type Gap = Responses['historyGaps']['gaps'][number]
type Repair = Coverage['repairs'][number]

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** One request covers at most this many days. */
const WINDOW_DAYS = 92
const WEEKS = 52

/** `partial`: blocks are missing, or only their fills are known. `gap`: no block of the period is archived. */
export type CoverageState = 'complete' | 'repaired' | 'partial' | 'gap' | 'none'

/** Archived blocks of a day or an hour. */
interface CoveredRow {
  readonly from_height: number
  readonly to_height: number
  readonly blocks: number
}

export interface CoveredPeriod {
  readonly startMs: number
  readonly state: CoverageState
  readonly blocks: number
  readonly gaps: readonly Gap[]
  readonly repairs: readonly Repair[]
  /** Number of blocks of which only the fills are known. */
  readonly fillsOnly: number
  /** Time of the first or last archived block if it is within the period, otherwise null. */
  readonly beginsMs: number | null
  readonly endsMs: number | null
}

const startOfDay = (atMs: number) => Math.floor(atMs / DAY_MS) * DAY_MS

/** Weeks from Monday to Sunday, oldest first, until today. Days after today are null. */
export function calendarWeeks(nowMs: number): (number | null)[][] {
  const today = startOfDay(nowMs)
  // 1 January 1970 was a Thursday.
  const monday = today - ((today / DAY_MS + 3) % 7) * DAY_MS
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const dayMs = monday + ((week - WEEKS + 1) * 7 + weekday) * DAY_MS
      return dayMs <= today ? dayMs : null
    }),
  )
}

/** Ranges of requests for the days since `firstMs`, newest first. Both ends are inclusive. */
export function coverageWindows(firstMs: number, nowMs: number): { readonly fromMs: number; readonly toMs: number }[] {
  const windows = []
  for (let toMs = startOfDay(nowMs) + DAY_MS - 1; toMs > firstMs; toMs -= WINDOW_DAYS * DAY_MS)
    windows.push({ fromMs: Math.max(firstMs, toMs + 1 - WINDOW_DAYS * DAY_MS), toMs })
  return windows
}

/** Coverage of several windows, newest first, as one. */
export function mergedCoverage([newest, ...older]: readonly [Coverage, ...Coverage[]]): Coverage {
  return { ...newest, days: [...older.reverse(), newest].flatMap(({ days }) => days) }
}

/** A day for each of `days`, in the same order. */
export function coveredDays(days: readonly number[], coverage: Coverage, gaps: readonly Gap[]): CoveredPeriod[] {
  const rows = new Map(coverage.days.map((row) => [Date.parse(row.day), row]))
  return days.map((dayMs) => coveredPeriod({ startMs: dayMs, endMs: dayMs + DAY_MS }, rows.get(dayMs), coverage, gaps))
}

/** The hours of the one day that `coverage` was requested for. */
export function coveredHours(dayMs: number, coverage: Coverage, gaps: readonly Gap[]): CoveredPeriod[] {
  return Array.from({ length: 24 }, (_, hour) => {
    const startMs = dayMs + hour * HOUR_MS
    const row = coverage.hours?.find((each) => each.hour === hour)
    return coveredPeriod({ startMs, endMs: startMs + HOUR_MS }, row, coverage, gaps)
  })
}

function coveredPeriod(
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  row: CoveredRow | undefined,
  { from, to, files, repairs }: Coverage,
  allGaps: readonly Gap[],
): CoveredPeriod {
  const isWithin = (atMs: number | undefined) => (atMs !== undefined && atMs >= startMs && atMs < endMs ? atMs : null)
  const common = (span: { readonly from_height: number; readonly to_height: number }) =>
    row === undefined
      ? 0
      : Math.max(0, Math.min(row.to_height, span.to_height) - Math.max(row.from_height, span.from_height) + 1)
  const gaps = allGaps.filter((gap) => gap.after_ms < endMs && gap.before_ms > startMs)
  const repaired = repairs.filter((repair) => common(repair) > 0)
  const known = files.holes.filter((hole) => hole.known === 'fills')
  const fillsOnly = [...known, ...repaired.filter((repair) => repair.known === 'fills')].reduce(
    (most, span) => Math.max(most, common(span)),
    0,
  )
  const parts = { gaps: gaps.length > 0, fillsOnly: fillsOnly > 0, repairs: repaired.length > 0 }
  return {
    startMs,
    state: row === undefined ? (parts.gaps ? 'gap' : 'none') : stateOf(parts),
    blocks: row?.blocks ?? 0,
    gaps,
    repairs: repaired,
    fillsOnly,
    beginsMs: isWithin(from?.time_ms),
    endsMs: isWithin(to?.time_ms),
  }
}

function stateOf(parts: { readonly gaps: boolean; readonly fillsOnly: boolean; readonly repairs: boolean }) {
  if (parts.gaps || parts.fillsOnly) return 'partial'
  return parts.repairs ? 'repaired' : 'complete'
}

/** Maximum number of gaps or repairs that a text lists. */
const LISTED_MAX = 3

/** `27 Nov 2026`, and what is archived of that day. */
export const dayTextOf = (day: CoveredPeriod) => `${dateText(day.startMs)}: ${coverageTextOf(day)}`
/** `14:00`, and what is archived of that hour. */
export const hourTextOf = (hour: CoveredPeriod) => `${minuteText(hour.startMs)}: ${coverageTextOf(hour)}`

const minuteText = (atMs: number) => timeText(atMs).slice(11, 16)

function coverageTextOf({ state, blocks, gaps, repairs, fillsOnly, beginsMs, endsMs }: CoveredPeriod): string {
  if (state === 'none' || state === 'gap') return coverageText[state]
  const missing = listed(gaps, (gap) => coverageText.missing(countOf(gap), minuteText(gap.after_ms), gap.state))
  const repaired = listed(repairs, (repair) =>
    coverageText.repaired(countOf(repair), repair.from_ms === null ? null : minuteText(repair.from_ms), repair.source),
  )
  const extent = [
    missing === '' && fillsOnly > 0 ? coverageText.archived : coverageText.complete,
    beginsMs === null ? '' : coverageText.begins(minuteText(beginsMs)),
    endsMs === null ? '' : coverageText.ends(minuteText(endsMs)),
    missing === '' ? '' : coverageText.butFor(missing),
  ]
  const sentences = [
    extent.join(''),
    fillsOnly === 0 ? '' : coverageText.fillsOnly(groupedText(String(fillsOnly))),
    repaired,
    coverageText.blocks(groupedText(String(blocks))),
  ]
  return `${sentences.filter((sentence) => sentence !== '').join('. ')}.`
}

const countOf = (span: { readonly from_height: number; readonly to_height: number }) =>
  groupedText(String(span.to_height - span.from_height + 1))

function listed<T>(items: readonly T[], textOf: (item: T) => string): string {
  const rest = items.length - LISTED_MAX
  const shown = items.slice(0, LISTED_MAX).map(textOf)
  return [...shown, ...(rest > 0 ? [coverageText.more(rest)] : [])].join(', ')
}

const DAY_STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -7,
  ArrowRight: 7,
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -28,
  PageDown: 28,
}

/** The day that a key leads to, null for other keys. Weeks are columns. */
export function nextDay(key: string, atMs: number, firstMs: number, lastMs: number): number | null {
  if (key === 'Home') return firstMs
  if (key === 'End') return lastMs
  const step = DAY_STEPS[key]
  return step === undefined ? null : Math.min(Math.max(atMs + step * DAY_MS, firstMs), lastMs)
}

/** The hour that a key leads to, null for other keys. */
export function nextHour(key: string, hour: number): number | null {
  const to = { ArrowLeft: hour - 1, ArrowUp: hour - 1, ArrowRight: hour + 1, ArrowDown: hour + 1, Home: 0, End: 23 }[
    key
  ]
  return to === undefined ? null : Math.min(Math.max(to, 0), 23)
}

/** A UTC day of the address, null if it is not one. */
export function dayOf(text: string): number | null {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(ms) ? ms : null
}

/** An hour of the address, null if it is not one. */
export const hourOf = (text: string): number | null => (/^([01]?\d|2[0-3])$/.test(text) ? Number(text) : null)

export interface ExportRange {
  /** Both ends are inclusive. */
  readonly fromMs: number
  readonly toMs: number
}

/** The chosen hour, else the days of the address, else today. */
export function exportRange(
  address: { readonly from: string; readonly to: string; readonly hour: string },
  nowMs: number,
): ExportRange {
  const fromMs = dayOf(address.from) ?? startOfDay(nowMs)
  const lastMs = dayOf(address.to) ?? startOfDay(nowMs)
  const hour = hourOf(address.hour)
  if (hour === null || fromMs !== lastMs) return { fromMs, toMs: lastMs + DAY_MS - 1 }
  return { fromMs: fromMs + hour * HOUR_MS, toMs: fromMs + (hour + 1) * HOUR_MS - 1 }
}

/** Shell commands that download the fills of a range, check them, and sum them with DuckDB. */
export function exportCommands(origin: string, chain: string, { fromMs, toMs }: ExportRange): string {
  const root = `${origin}/v1/${encodeURIComponent(chain)}/history`
  const files = `${root}/files?from=${fromMs}&to=${toMs}&products=fills_by_time&limit=1000`
  return `curl -s "${files}" -u "$WEIR_KEY:" |
  jq -r '.data.files[] | "url = \\"${origin}\\(.link)\\"\\noutput = \\"\\(.key)\\""' |
  curl --create-dirs -K -
curl -s "${root}/SHA256SUMS?day=${timeText(fromMs).slice(0, 10)}" -u "$WEIR_KEY:" |
  sha256sum --check --ignore-missing
duckdb -c "SELECT coin, sum(px::DOUBLE * sz::DOUBLE) AS volume
  FROM 'files/**/*.parquet' WHERE side = 'B' GROUP BY coin ORDER BY volume DESC"`
}

/** The live page with a replay from this time, or of the most traded market if `coin` is empty. */
export function replayAddress(coin: string, fromMs: number): string {
  const market = coin === '' ? '' : `coin=${encodeURIComponent(coin)}&`
  return `/live?${market}replay=${timeText(fromMs).replace(' ', 'T')}`
}
