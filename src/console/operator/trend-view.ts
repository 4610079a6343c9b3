// The charts of the operators' overview as columns. Invariants: there is one column per step from the first to the one in
// progress, also without activity; amounts stay whole micro-units, so that no sum is rounded.

import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import type { Responses } from '../responses.ts'
import type { StackedColumn } from '../ui/stacked-bars.ts'

export type Trend = Responses['businessTrend']

/** Stream minutes and pipeline rows are not calls. */
const NOT_CALLS = ['stream', 'pipeline']
/** More parts than this are one. */
const PARTS_MAX = 8

/** Starts of the steps, Unix ms. */
export function stepsOf({ step, from, to }: Pick<Trend, 'step' | 'from' | 'to'>): number[] {
  const starts: number[] = []
  for (let at = from; at <= to; at = nextStep(step, at)) starts.push(at)
  return starts
}

function nextStep(step: Trend['step'], at: number): number {
  if (step !== 'month') return at + (step === 'hour' ? HOUR_MS : DAY_MS)
  const day = new Date(at)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1)
}

/** An exact decimal in millionths. */
function millionths(decimal: string): number {
  const [whole = '', rest = ''] = decimal.split('.')
  return Number(whole) * 1_000_000 + Number(rest.padEnd(6, '0').slice(0, 6))
}

interface ChartData {
  readonly parts: readonly string[]
  readonly columns: readonly StackedColumn[]
  readonly total: number
}

interface Part {
  readonly start: number
  readonly part: string
  readonly value: number
}

function chartOf(trend: Trend, parts: readonly Part[], other: string): ChartData {
  const totals = new Map<string, number>()
  for (const { part, value } of parts) totals.set(part, (totals.get(part) ?? 0) + value)
  const byTotal = [...totals].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1])
  const hasOther = byTotal.length > PARTS_MAX
  const shown = byTotal.slice(0, hasOther ? PARTS_MAX - 1 : PARTS_MAX).map(([part]) => part)
  const byStart = new Map<number, Record<string, number>>()
  for (const { start, part, value } of parts) {
    const own = byStart.get(start) ?? {}
    const name = shown.includes(part) ? part : other
    own[name] = (own[name] ?? 0) + value
    byStart.set(start, own)
  }
  return {
    parts: hasOther ? [...shown, other] : shown,
    columns: stepsOf(trend).map((start) => ({ name: new Date(start).toISOString(), parts: byStart.get(start) ?? {} })),
    total: [...totals.values()].reduce((sum, value) => sum + value, 0),
  }
}

interface TrendNames {
  readonly kept: string
  readonly refunded: string
  readonly other: string
  readonly labelOf: (name: string) => string
}

export interface TrendCharts {
  /** Millionths of a currency. There is a chart for each. */
  readonly revenue: readonly (ChartData & { readonly currency: string; readonly decimals: number })[]
  /** Micro-credits by product. */
  readonly credits: ChartData
  /** By product. */
  readonly calls: ChartData
  /** By error code. */
  readonly rejected: ChartData
}

export function trendCharts(trend: Trend, { kept, refunded, other, labelOf }: TrendNames): TrendCharts {
  const currencies = [...new Set(trend.paid.map(({ currency }) => currency))]
  const chart = (parts: readonly Part[]) => chartOf(trend, parts, other)
  return {
    revenue: currencies.map((currency) => {
      const own = trend.paid.filter((one) => one.currency === currency)
      const parts = own.flatMap(({ start, amount, refunded: back }) => [
        { start, part: kept, value: millionths(amount) - millionths(back) },
        { start, part: refunded, value: millionths(back) },
      ])
      return { currency, decimals: own[0]?.amount.split('.')[1]?.length ?? 0, ...chart(parts) }
    }),
    credits: chart(
      trend.used.map(({ start, product, credits }) => ({ start, part: labelOf(product), value: millionths(credits) })),
    ),
    calls: chart(
      trend.used
        .filter(({ product }) => !NOT_CALLS.includes(product))
        .map(({ start, product, count }) => ({ start, part: labelOf(product), value: count })),
    ),
    rejected: chart(trend.rejected.map(({ start, code, count }) => ({ start, part: labelOf(code), value: count }))),
  }
}

/** A step of the table. */
export interface TrendRow {
  readonly start: number
  /** Micro-credits. */
  readonly credits: number
  readonly calls: number
  readonly minutes: number
  readonly rows: number
  readonly rejected: number
  /** By currency, for example `38.00 EUR`. */
  readonly paid: readonly Trend['paid'][number][]
}

/** One row per step, newest first. */
export function trendRows(trend: Trend): TrendRow[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return stepsOf(trend)
    .reverse()
    .map((start) => {
      const used = trend.used.filter((one) => one.start === start)
      const count = (isCounted: (product: string) => boolean) =>
        sum(used.filter(({ product }) => isCounted(product)).map((one) => one.count))
      return {
        start,
        credits: sum(used.map(({ credits }) => millionths(credits))),
        calls: count((product) => !NOT_CALLS.includes(product)),
        minutes: count((product) => product === 'stream'),
        rows: count((product) => product === 'pipeline'),
        rejected: sum(trend.rejected.filter((one) => one.start === start).map((one) => one.count)),
        paid: trend.paid.filter((one) => one.start === start),
      }
    })
}
