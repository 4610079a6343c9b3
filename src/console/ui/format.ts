// Formats amounts, prices and times. Invariant: amounts stay exact, because decimal strings are grouped and never parsed.
// All times are UTC.

import type { Responses } from '../responses.ts'
import { labelOf, ORDER, RELATIVE } from './strings.ts'

const groupDigits = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ',')

/** An exact decimal with thousands separators: `1,234,567.89`. Any other string is returned unchanged. */
export function groupedText(decimal: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(decimal) ?? []
  return whole === '' ? decimal : `${sign}${groupDigits(whole)}${rest}`
}

/** Reverses `groupedText`, for CSV. Any other string is returned unchanged. */
export const plainText = (text: string) => (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text)

/** Micro-credits as credits: `creditsText(1_500_000)` is `1.5`. */
export function creditsText(micro: number | bigint): string {
  const value = BigInt(micro)
  const size = value < 0n ? -value : value
  const rest = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return groupedText(`${value < 0n ? '-' : ''}${size / 1_000_000n}${rest === '' ? '' : `.${rest}`}`)
}

/** `2026-11-25 22:40:07` */
export const timeText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')
/** `2026-11-25` */
export const dayText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

/** `25 Nov 2026` */
export const dateText = (unixMs: number): string => new Date(unixMs).toUTCString().slice(5, 16).replace(/^0/, '')

/** `25 Nov` */
export const shortDayText = (unixMs: number): string => dateText(unixMs).slice(0, -5)

/** `25 Nov 2026, 22:00 UTC`: usage is stored per hour. */
export const hourText = (unixMs: number): string => `${dateText(unixMs)}, ${timeText(unixMs).slice(11, 13)}:00 UTC`

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `3 d`, `2 h`, `5 min`, `8 s`: one unit, rounded down; below one second `0 s`. */
export function durationText(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3]
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`
}

export type CreditOrder = Responses['checkout']['order']

/** `1,900.00 EUR` */
export const priceText = (amount: string, currency: string) => `${groupedText(amount)} ${currency.toUpperCase()}`

export function creditOrderStateText({ state, paid, granted, refunded, currency }: CreditOrder): string {
  const refund = /^[0.]+$/.test(refunded) ? '' : ORDER.refunded(priceText(refunded, currency))
  if (state !== 'paid') return labelOf(state) + refund
  return `${ORDER.paid(timeText(paid ?? 0))}${granted === null ? ORDER.withheld : ''}${refund}`
}

/** `8 s ago`, `2 h ago`; older than a week: `25 Nov 2026`. Future times: `in 3 d`. */
export function relativeText(atMs: number, nowMs: number): string {
  const sinceMs = nowMs - atMs
  if (Math.abs(sinceMs) > 7 * 86_400_000) return dateText(atMs)
  return sinceMs >= 0 ? RELATIVE.ago(durationText(sinceMs)) : RELATIVE.ahead(durationText(-sinceMs))
}

/** `0 B`, `1.5 KB`, `611 KB`, `2.3 GB`, in powers of 1,000. */
export function sizeText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), SIZES.length - 1)
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.floor(value) : value.toFixed(1)} ${SIZES[power]}`
}

const SIZES = ['B', 'KB', 'MB', 'GB', 'TB'] as const

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })

/** A number for the axis of a chart: `0`, `250`, `1.5K`, `20M`. */
export const compactText = (value: number): string => compact.format(value)
