// Exact decimals as wire strings. Prices and sizes are never floats. A float is used only to sort faster.

/** A plain decimal: an optional sign, digits, and up to 18 decimals, which is the maximum of the exchange. */
export const DECIMAL = /^-?\d{1,38}(?:\.\d{1,18})?$/
/** A decimal without a sign, for prices and sizes. */
export const UNSIGNED_DECIMAL = /^\d{1,38}(?:\.\d{1,18})?$/
/** Matches a value that is already in wire form, as almost all values are. */
const TRIMMED = /^(?:0|[1-9]\d*)\.(?:0|\d*[1-9])$/

/** Number of decimals of a scaled integer. The exchange's most precise tokens have 18 decimals. */
export const SCALE_DECIMALS = 18
const ZEROS = '0'.repeat(SCALE_DECIMALS)

/** Parses a decimal string into an integer scaled by 10^18. The caller must have validated the syntax. */
export function toScaled(text: string): bigint {
  const dot = text.indexOf('.')
  if (dot < 0) return BigInt(text + ZEROS)
  const fraction = text.length - dot - 1
  return BigInt(text.slice(0, dot) + text.slice(dot + 1) + ZEROS.slice(fraction))
}

/**
 * Wire form of a scaled integer. Trailing zeros are removed, but at least one decimal remains (`"1.0"`, `"0.25"`,
 * `"-3.0"`).
 */
export function fromScaled(scaled: bigint): string {
  const negative = scaled < 0n
  const digits = (negative ? -scaled : scaled).toString().padStart(SCALE_DECIMALS + 1, '0')
  const whole = digits.slice(0, -SCALE_DECIMALS)
  let end = digits.length
  const first = digits.length - SCALE_DECIMALS
  while (end > first + 1 && digits.charCodeAt(end - 1) === 48) end--
  return `${negative ? '-' : ''}${whole}.${digits.slice(first, end)}`
}

/**
 * Compares exactly, for sorting. `Number()` preserves the order of different floats, so only equal floats need the
 * exact comparison.
 */
export function compareDecimals(a: string, b: string): number {
  const hint = Number(a) - Number(b)
  if (hint !== 0) return hint
  if (a === b) return 0
  const exact = toScaled(a) - toScaled(b)
  return exact < 0n ? -1 : exact > 0n ? 1 : 0
}

/** True for `0`, `0.0`, `0.000` and so on. */
export function isZero(text: string): boolean {
  return Number(text) === 0
}

/** Wire form of a decimal string: `81308` and `81308.00` become `81308.0`. */
export function trimDecimal(text: string): string {
  return TRIMMED.test(text) ? text : fromScaled(toScaled(text))
}
