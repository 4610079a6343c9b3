// Amounts of the exchange: integers scaled by 10^8 (prices, sizes, USDC, tokens alike).
// Decimals of a market's price and size add up to at most 8, so price times size is exact.

/** One whole unit. */
export const UNIT = 100_000_000n
const UNIT_NUMBER = 100_000_000
/** Fees, realised profit and USDC movements are multiples of 10^-6. */
const MICRO = 100n

const fractions = (n: number): string => {
  let text = n.toString().padStart(8, '0')
  while (text.length > 1 && text.endsWith('0')) text = text.slice(0, -1)
  return text
}

/** Wire form: trailing zeros trimmed to one decimal, as the exchange writes it. */
export function formatAmount(amount: bigint): string {
  const negative = amount < 0n
  const size = negative ? -amount : amount
  const whole = size / UNIT
  return `${negative ? '-' : ''}${whole}.${fractions(Number(size - whole * UNIT) % UNIT_NUMBER)}`
}

/** Of a decimal string with at most 8 decimals, as the tables of this folder have them. */
export function amountOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}

/** Whole units as an amount. */
export function units(n: number): bigint {
  return BigInt(n) * UNIT
}

/** Price times size; exact for prices and sizes of one market. */
export function notional(px: bigint, sz: bigint): bigint {
  return (px * sz) / UNIT
}

/** Cut to multiples of 10^-6, towards zero. */
export function toMicro(amount: bigint): bigint {
  return (amount / MICRO) * MICRO
}

/** Size without sign. */
export function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}

/** The smaller of two. */
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
