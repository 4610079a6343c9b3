// Amounts of the exchange: integers scaled by 10^8 (prices, sizes, USDC and tokens). A market's price and size have at
// most 8 decimals together, so price times size is exact.

/** One whole unit. */
export const UNIT = 100_000_000n
/** Fees, realized profit and USDC movements are multiples of 10^-6. */
const MICRO = 100n

/** The number `units` times 10^-`decimals`, in the exchange's format. Exact below 2^53. */
export function decimalText(units: number, decimals: number): string {
  if (decimals === 0) return `${units}.0`
  const scale = 10 ** decimals
  const whole = Math.floor(units / scale)
  let fraction = String(units - whole * scale).padStart(decimals, '0')
  let end = fraction.length
  while (end > 1 && fraction.charCodeAt(end - 1) === 48) end--
  if (end < fraction.length) fraction = fraction.slice(0, end)
  return `${whole}.${fraction}`
}

/** Wire form: trailing zeros trimmed to one decimal, as the exchange writes it. */
export function formatAmount(amount: bigint): string {
  const negative = amount < 0n
  const size = negative ? -amount : amount
  const units = Number(size)
  if (units <= Number.MAX_SAFE_INTEGER) return `${negative ? '-' : ''}${decimalText(units, 8)}`
  const whole = size / UNIT
  return `${negative ? '-' : ''}${whole}${decimalText(Number(size - whole * UNIT), 8).slice(1)}`
}

/** The amount of a decimal string with at most 8 decimals. */
export function amountOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}

/** Whole units as an amount. */
export function units(n: number): bigint {
  return BigInt(n) * UNIT
}

/** Price times size. Exact if both are of the same market. */
export function notional(px: bigint, sz: bigint): bigint {
  return (px * sz) / UNIT
}

/** Truncates to multiples of 10^-6. */
export function toMicro(amount: bigint): bigint {
  return (amount / MICRO) * MICRO
}

/** Absolute value. */
export function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}

/** The smaller of two. */
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
