// Orders of credits as endpoints take and show them.

import * as z from 'zod'
import { moneyText } from '../checkout/money.ts'
import { ORDER_STATES, type Order, PROVIDERS } from '../checkout/order.ts'
import { formatCredits } from '../credit/amount.ts'
import { AccountId, CreditsText, UnixMs } from './fields.ts'

const OrderNumber = z
  .string()
  .regex(/^W-\d{1,12}-[1-9A-HJ-NP-Za-km-z]{4}$/, 'must be the number of an order, such as W-17-k3Fz')
  .describe('Number of the order')
export const ORDER_PARAMS = { number: OrderNumber }

export const MoneyText = z.string().regex(/^\d+(\.\d{2,3})?$/)
export const CurrencyCode = z
  .string()
  .regex(/^[a-z]{3}$/)
  .describe('Of ISO 4217, in small letters')

export const OrderState = z
  .enum(ORDER_STATES)
  .describe(
    '`open`: not paid yet; `paid`: its credits are there, unless `granted` is null; `failed`: the payment failed; `void`: it is not to be paid any more',
  )

export const ShownOrder = z
  .object({
    number: OrderNumber,
    account: AccountId,
    credits: CreditsText.describe('Credits that it buys; they do not expire'),
    amount: MoneyText.describe('What it costs'),
    currency: CurrencyCode,
    provider: z.enum(PROVIDERS).describe('Who takes the money: `manual` is the operator, as `instructions` say'),
    state: OrderState,
    url: z.string().nullable().describe('Where it is paid; null: by hand, or not any more'),
    created: UnixMs,
    paid: UnixMs.nullable().describe('When it was paid, Unix milliseconds; null: it is not'),
    granted: UnixMs.nullable().describe('When its credits came, Unix milliseconds; null: they did not'),
    refunded: MoneyText.describe('What was given back of the amount; credits are not taken back for it'),
    note: z.string().nullable().describe('What happened to it; null: nothing special'),
  })
  .meta({ id: 'Order' })

export const ORDER_EXAMPLE = {
  number: 'W-17-k3Fz',
  account: 'acme',
  credits: '100000',
  amount: '19.00',
  currency: 'eur',
  provider: 'manual',
  state: 'open',
  url: null,
  created: 1790000000000,
  paid: null,
  granted: null,
  refunded: '0.00',
  note: null,
} as const
export const PAID_EXAMPLE = {
  ...ORDER_EXAMPLE,
  state: 'paid',
  paid: 1790000600000,
  granted: 1790000600000,
} as const

export function shownOrder({ seq: _, reference: __, micro, minor, refunded, ...order }: Order) {
  const { currency, state } = order
  return {
    ...order,
    credits: formatCredits(micro),
    amount: moneyText(minor, currency),
    refunded: moneyText(refunded, currency),
    url: state === 'open' ? order.url : null,
  }
}
