// Funding payments of wallets, one string per wallet. A negative amount was paid by the wallet. One hour of the real
// exchange has 140,000 payments of 60,000 wallets; as objects, they would take twice the space and ten times as long to
// parse.

import * as z from 'zod'

/** Maximum length of an entry. It allows far more positions than a wallet can have. */
const LENGTH_MAX = 128 * 1024
/** Contains only characters that JSON does not escape, so the string can be embedded unchanged. */
const ENTRY = /^0x[0-9a-f]{40} \d{1,15}(?: [!#-[\]-~]{1,64}(?: -?\d{1,38}(?:\.\d{1,18})?){3})+$/
/** Number of fields per coin, after the user and the time. */
const FIELDS_PER_COIN = 4
const HEADER_FIELDS = 2

/**
 * `user time` in Unix ms, followed by `coin usdc szi rate` per coin, separated by spaces. `usdc` is the payment, `szi`
 * the position size and `rate` the funding rate, each as the node wrote it.
 */
export const Payments = z
  .string()
  .max(LENGTH_MAX)
  .regex(ENTRY, 'must be user, time, and per coin its name and three decimals, separated by spaces')

/** Payment for one coin. */
export type PaymentRow = readonly [coin: string, usdc: string, szi: string, rate: string]

export interface UserPayments {
  readonly user: string
  /** Time in Unix ms. */
  readonly time: number
  readonly rows: readonly PaymentRow[]
}

export function readPayments(entry: string): UserPayments {
  const fields = entry.split(' ')
  const rows: PaymentRow[] = []
  for (let at = HEADER_FIELDS; at < fields.length; at += FIELDS_PER_COIN) {
    const [coin = '', usdc = '', szi = '', rate = ''] = fields.slice(at, at + FIELDS_PER_COIN)
    rows.push([coin, usdc, szi, rate])
  }
  return { user: fields[0] ?? '', time: Number(fields[1]), rows }
}

/** The time of an entry, as text. The user before it has 42 characters. */
export function paidAt(entry: string): string {
  return entry.slice(43, entry.indexOf(' ', 43))
}

const PAYMENTS_START = '{"payments":['
/** End of the list. It cannot occur within an entry, because every entry ends with a digit. */
const PAYMENTS_END = '],"'

/** Archived line of a block. The payments come before the events, so that readers can remove them cheaply. */
export function withPayments(events: string, payments: string): string {
  return payments === '' ? events : `{"payments":${payments},${events.slice(1)}`
}

export function withoutPayments(line: string): string {
  if (!line.startsWith(PAYMENTS_START)) return line
  return `{${line.slice(line.indexOf(PAYMENTS_END, PAYMENTS_START.length - 1) + 2)}`
}

/** Means that it is unknown whether the block paid funding. */
export const PAYMENTS_UNKNOWN = 'null'

/** Payments of a block as a JSON string. */
export function paymentsText(payments: readonly string[] | null): string {
  if (payments === null) return PAYMENTS_UNKNOWN
  return payments.length === 0 ? '[]' : `["${payments.join('","')}"]`
}

/** Finds one wallet's payments in a block's payments string. */
export function paymentsOf(user: string, text: string): UserPayments[] {
  const found: UserPayments[] = []
  const mark = `"${user} `
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
    found.push(readPayments(text.slice(at + 1, text.indexOf('"', at + 1))))
  return found
}
