// Tax within and on top of prices. Invariants: exact integer arithmetic; a tax is rounded once, half up, to a minor unit;
// `withTax` adds exactly what `taxWithin` then finds, so an invoice needs only its gross amount and the rate.

/** 100 percent, in thousandths of a percent. */
const WHOLE = 100_000n

/** `19.5` is 19500 thousandths of a percent. */
function thousandthsOf(rate: string): bigint {
  const [whole = '', fraction = ''] = rate.split('.')
  return BigInt(whole + fraction.padEnd(3, '0'))
}

/** Divides and rounds half up; not negative. */
const quotient = (value: bigint, by: bigint) => Number((2n * value + by) / (2n * by))

/** Tax contained in a gross amount, in minor units. `rate`: percent such as `19` or `7.625`. */
export function taxWithin(gross: number, rate: string): number {
  const thousandths = thousandthsOf(rate)
  return quotient(BigInt(gross) * thousandths, WHOLE + thousandths)
}

/** Gross amount of a net amount, in minor units. */
export function withTax(net: number, rate: string): number {
  return net + quotient(BigInt(net) * thousandthsOf(rate), WHOLE)
}
