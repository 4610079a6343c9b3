// Formats market numbers. Invariants: a value that is not a number is shown as a dash; times are in UTC.

const DASH = '–'
const THOUSANDS = /\B(?=(\d{3})+(?!\d))/g

/** With thousands separators and a fixed number of decimals. */
export function fixedText(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return DASH
  const [whole = '', part] = Math.abs(value).toFixed(decimals).split('.')
  const text = `${whole.replaceAll(THOUSANDS, ',')}${part === undefined ? '' : `.${part}`}`
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text
}

/** Decimals for a price: five significant figures, as on the exchange, and at most eight decimals. */
export function priceDecimals(price: number): number {
  if (!(price > 0)) return 2
  return Math.min(8, Math.max(0, 4 - Math.floor(Math.log10(price))))
}

export const priceText = (price: number) => fixedText(price, priceDecimals(price))

/** A change in percent with its sign. */
export function changeText(now: number, before: number): string {
  const change = (now / before - 1) * 100
  if (!Number.isFinite(change)) return DASH
  return `${change > 0 ? '+' : ''}${fixedText(change, 2)}%`
}

/** A change with its sign. */
export function differenceText(now: number, before: number): string {
  const text = fixedText(now - before, priceDecimals(now))
  return now > before ? `+${text}` : text
}

/** An hourly funding rate in percent. */
export const fundingText = (rate: number) => (Number.isFinite(rate) ? `${fixedText(rate * 100, 4)}%` : DASH)

const UNITS = ['', 'k', 'M', 'B', 'T']

/** Three significant figures and a unit: `1.23 M`. */
export function compactText(value: number): string {
  if (!Number.isFinite(value)) return DASH
  // Rounded first, so that 999,999 becomes 1 M.
  const size = Number(Math.abs(value).toPrecision(3))
  const unit = size < 1_000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(size) / 3))
  const scaled = value / 1_000 ** unit
  const figures = size === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(size / 1_000 ** unit)))
  const text = fixedText(scaled, Math.min(unit === 0 && Number.isInteger(value) ? 0 : figures, 4))
  return unit === 0 ? text : `${text} ${UNITS[unit]}`
}

/** A duration in its largest unit. */
export function ageText(ms: number): string {
  if (!Number.isFinite(ms)) return DASH
  const age = Math.max(0, ms)
  if (age < 1_000) return `${Math.round(age)} ms`
  if (age < 60_000) return `${(age / 1_000).toFixed(1)} s`
  return age < 3_600_000 ? `${Math.floor(age / 60_000)} min` : `${Math.floor(age / 3_600_000)} h`
}

const iso = (ms: number) => (Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : '')

/** `12:34:56`, UTC. */
export const clockText = (ms: number) => iso(ms).slice(11, 19) || DASH
/** `2026-11-25 12:34:56`, UTC. */
export const timestampText = (ms: number) => iso(ms).slice(0, 19).replace('T', ' ') || DASH
/** The value of a `datetime-local` input, in UTC. */
export const dateTimeInputText = (ms: number) => iso(ms).slice(0, 19)
/** Unix ms of such a value; NaN if it is empty or invalid. */
export const parseDateTimeInput = (text: string) => Date.parse(`${text}${/T\d\d:\d\d$/.test(text) ? ':00' : ''}Z`)
