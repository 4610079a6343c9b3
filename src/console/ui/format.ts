// Amounts, prices and times as text. Invariant: exact: micro-credits are whole numbers, and a decimal text is grouped, never counted
// with; times are UTC, and it is said.

import type { Responses } from '../responses.ts'

const groupDigits = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ' ')

/** An exact decimal text, its whole part in groups of three: `1 234 567.89`. */
export function groupedText(decimal: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(decimal) ?? []
  return whole === '' ? decimal : `${sign}${groupDigits(whole)}${rest}`
}

/** The number of a grouped text again, as a program reads it; any other text as it is. */
export const plainText = (text: string) => (/^-?\d{1,3}( \d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(' ', '') : text)

/** Micro-credits as credits: `microText(1_500_000)` is `1.5`. */
export function creditsText(micro: number | bigint): string {
  const value = BigInt(micro)
  const size = value < 0n ? -value : value
  const rest = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return groupedText(`${value < 0n ? '-' : ''}${size / 1_000_000n}${rest === '' ? '' : `.${rest}`}`)
}

/** `2026-11-25 22:40:07`, UTC. */
export const timeText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')
/** `2026-11-25`, UTC. */
export const dayText = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)

/** `2026-11-25 22 h`: in which hour, UTC, where no more is kept. */
export const hourText = (unixMs: number): string => `${timeText(unixMs).slice(0, 13)} h`

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `3 d`, `2 h`, `5 min`, `8 s`: one unit, rounded down; below a second `0 s`. */
export function durationText(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3]
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`
}

export type CreditOrder = Responses['checkout']['order']

/** `1 900.00 EUR`. */
export const priceText = (amount: string, currency: string) => `${groupedText(amount)} ${currency.toUpperCase()}`

/** The state with what is unusual about it. */
export function creditOrderStateText({ state, paid, granted, refunded, currency }: CreditOrder): string {
  const back = /^[0.]+$/.test(refunded) ? '' : `, ${priceText(refunded, currency)} given back`
  if (state !== 'paid') return state + back
  return `paid ${timeText(paid ?? 0)}${granted === null ? ', credits withheld' : ''}${back}`
}
