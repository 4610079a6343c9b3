// Amounts of credits as text. Law: exact: micro-credits are whole numbers, and a decimal text is grouped, never counted with.

const grouped = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ' ')

/** An exact decimal text, its whole part in groups of three: `1 234 567.89`. */
export function groupedText(decimal: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(decimal) ?? []
  return whole === '' ? decimal : `${sign}${grouped(whole)}${rest}`
}

/** The number of a grouped text again, as a program reads it; any other text as it is. */
export const plainText = (text: string) => (/^-?\d{1,3}( \d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(' ', '') : text)

/** Micro-credits as credits: `microText(1_500_000)` is `1.5`. */
export function microText(micro: number | bigint): string {
  const value = BigInt(micro)
  const size = value < 0n ? -value : value
  const rest = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return groupedText(`${value < 0n ? '-' : ''}${size / 1_000_000n}${rest === '' ? '' : `.${rest}`}`)
}
