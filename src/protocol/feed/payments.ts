// What wallets paid (below zero) and got as funding, a text for each: of an hour of the real exchange 60,000 wallets have 140,000
// payments, which as objects would take ten times as long to read and twice the room.

import * as z from 'zod'

/** Far more than a wallet can have positions. */
const LENGTH_MAX = 128 * 1024
/** Nothing that JSON would write otherwise: of millions of characters none has to be looked at. */
const ENTRY = /^0x[0-9a-f]{40} \d{1,15}(?: [!#-[\]-~]{1,64}(?: -?\d{1,38}(?:\.\d{1,18})?){3})+$/
/** Behind the user and the time. */
const FIELDS_PER_COIN = 4
const HEADER_FIELDS = 2

/**
 * `user time`, Unix ms, and of each of its coins behind that `coin usdc szi rate`, with spaces between: what was paid, the
 * size of the position, and the rate, in the decimals that the node wrote.
 */
export const Payments = z
  .string()
  .max(LENGTH_MAX)
  .regex(ENTRY, 'must be user, time, and of each coin its name and three decimals, with spaces between')

/** Of one coin. */
export type PaymentRow = readonly [coin: string, usdc: string, szi: string, rate: string]

export interface UserPayments {
  readonly user: string
  /** Unix ms. */
  readonly time: number
  readonly rows: readonly PaymentRow[]
}

export function readPayments(entry: string): UserPayments {
  const words = entry.split(' ')
  const rows: PaymentRow[] = []
  for (let at = HEADER_FIELDS; at < words.length; at += FIELDS_PER_COIN) {
    const [coin = '', usdc = '', szi = '', rate = ''] = words.slice(at, at + FIELDS_PER_COIN)
    rows.push([coin, usdc, szi, rate])
  }
  return { user: words[0] ?? '', time: Number(words[1]), rows }
}

const PAYMENTS_START = '{"payments":['
/** Entries end with a digit. */
const PAYMENTS_END = '],"'

/** The archived line of a block: its events, and before them the text of its payments, which who needs them not cuts off. */
export function withPayments(events: string, payments: string): string {
  return payments === '' ? events : `{"payments":${payments},${events.slice(1)}`
}

export function withoutPayments(line: string): string {
  if (!line.startsWith(PAYMENTS_START)) return line
  return `{${line.slice(line.indexOf(PAYMENTS_END, PAYMENTS_START.length - 1) + 2)}`
}

/** Of a block of which is not known whether anybody paid. */
export const PAYMENTS_UNKNOWN = 'null'

/** JSON of the payments of a block. */
export function paymentsText(payments: readonly string[] | null): string {
  if (payments === null) return PAYMENTS_UNKNOWN
  return payments.length === 0 ? '[]' : `["${payments.join('","')}"]`
}

/** What one wallet has in the text of a block's payments. */
export function paymentsOf(user: string, text: string): UserPayments[] {
  const found: UserPayments[] = []
  const mark = `"${user} `
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
    found.push(readPayments(text.slice(at + 1, text.indexOf('"', at + 1))))
  return found
}
