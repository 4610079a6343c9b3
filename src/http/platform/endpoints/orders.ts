// Credit orders: prices, ordering by the owner and settlement by the operator.

import * as z from 'zod'
import { moneyText } from '../../../billing/checkout/money.ts'
import { PROVIDERS, PURCHASE_STATES, type Purchase } from '../../../billing/checkout/purchase.ts'
import { formatCredits } from '../../../core/amount.ts'
import { AccountId } from '../../../core/ids.ts'
import { MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Credits, CreditsText, UnixMs } from '../fields.ts'

const OrderNumber = z
  .string()
  .regex(/^W-\d{1,12}-[1-9A-HJ-NP-Za-km-z]{4}$/, 'must be an order number such as W-17-k3Fz')
  .describe('Order number')
const ORDER_PARAMS = { number: OrderNumber }

export const MoneyText = z.string().regex(/^\d+(\.\d{2,3})?$/)
export const CurrencyCode = z
  .string()
  .regex(/^[a-z]{3}$/)
  .describe('ISO 4217 currency code in lower case')

const OrderState = z
  .enum(PURCHASE_STATES)
  .describe(
    '`open`: not paid yet; `paid`: paid, and credited unless `granted` is null; `failed`: payment failed; `void`: canceled',
  )

const OrderView = z
  .object({
    number: OrderNumber,
    account: AccountId,
    credits: CreditsText.describe('Ordered credits; they do not expire'),
    amount: MoneyText.describe('Price'),
    currency: CurrencyCode,
    provider: z.enum(PROVIDERS).describe('Payment provider; `manual`: pay the operator, see `instructions`'),
    state: OrderState,
    url: z.string().nullable().describe('Payment page; null: manual payment, or no longer payable'),
    created: UnixMs,
    paid: UnixMs.nullable().describe('Payment time, Unix milliseconds; null: not paid'),
    granted: UnixMs.nullable().describe('Time of the credit grant, Unix milliseconds; null: not granted'),
    refunded: MoneyText.describe('Refunded amount; refunds do not remove credits'),
    note: z.string().nullable().describe('Remark about the order; null: none'),
  })
  .meta({ id: 'Order' })

const ORDER_EXAMPLE = { credits: '100000', url: null, granted: null }

function orderView({ seq: _, reference: __, micro, minor, refunded, ...order }: Purchase) {
  const { currency, state } = order
  return {
    ...order,
    credits: formatCredits(micro),
    amount: moneyText(minor, currency),
    refunded: moneyText(refunded, currency),
    url: state === 'open' ? order.url : null,
  }
}

const ORDERS_MAX = 100

const Offers = z.object({
  provider: z.enum(PROVIDERS).nullable().describe('Payment provider; null: no credits for sale'),
  currency: CurrencyCode,
  packages: z
    .array(
      z.object({
        name: z.string().describe('Package name, used to order'),
        credits: CreditsText.describe('Credits in the package'),
        amount: MoneyText.describe('Price'),
      }),
    )
    .describe('Credit packages'),
  lots: z
    .object({
      credits: CreditsText.describe('Credits per lot'),
      amount: MoneyText.describe('Price per lot'),
      most: z.int().describe('Maximum lots per order'),
    })
    .nullable()
    .describe('Price of custom amounts, in lots; null: only packages are sold'),
  instructions: z.string().describe('Instructions for manual payment'),
  orders: z.array(OrderView).describe(`Orders of the account, newest first, at most ${ORDERS_MAX}`),
})

const showCheckout = defineEndpoint({
  id: 'showCheckout',
  route: 'GET /platform/checkout',
  summary: 'Show credit prices and the account’s orders',
  auth: 'key',
  responses: okResponse('Prices and orders', Offers, {
    provider: 'manual',
    packages: [{ name: 'small', credits: '100000' }],
    lots: { credits: '10000', amount: '2.00', most: 1000 },
    instructions: 'Transfer the amount to the bank account shown on our website and quote the order number.',
    orders: [ORDER_EXAMPLE],
  }),
  handle: async ({ identity }, { checkout }) => {
    const { currency, packages, lots, instructions } = checkout.prices
    const priced = <Sold extends { readonly credits: number; readonly minor: number }>({ credits, minor }: Sold) => ({
      credits: formatCredits(credits),
      amount: moneyText(minor, currency),
    })
    const orders = await checkout.list({ account: identity.account, limit: ORDERS_MAX })
    return reply(200, {
      provider: checkout.provider,
      currency,
      packages: packages.map((each) => ({ name: each.name, ...priced(each) })),
      lots: lots ? { ...priced(lots), most: lots.most } : null,
      instructions,
      orders: orders.map(orderView),
    })
  },
})

const ONE_FIELD_TEXT = 'send either "package" or "credits", not both'

const NewOrder = z
  .strictObject({
    package: z.string().max(64).optional().describe('Name of a package of `GET /platform/checkout`'),
    credits: Credits.optional().describe('Custom amount, a multiple of one lot'),
  })
  .refine((order) => (order.package === undefined) !== (order.credits === undefined), ONE_FIELD_TEXT)

const checkout = defineEndpoint({
  id: 'checkout',
  route: 'POST /platform/checkout',
  summary: 'Order credits',
  description: `${MANAGE_ACCESS_TEXT} Returns the order. Pay at its \`url\`, or manually as described in \`instructions\` of \`GET /platform/checkout\`. Credits are granted after payment and do not expire. An account can create 20 unpaid orders per day (429).`,
  auth: 'service',
  body: { schema: NewOrder, optional: false, example: { package: 'small' } },
  responses: createdResponse('The order', z.object({ order: OrderView.describe('The order') }), {
    order: ORDER_EXAMPLE,
  }),
  refusals: [404],
  handle: async ({ identity: { account, keyHash }, body }, { keys, checkout: orders }) => {
    const caller = await managingKey(keys, keyHash)
    if (!caller.ok) return caller
    const order = await orders.start(account, body)
    return order.ok ? reply(201, { order: orderView(order.value) }) : order
  },
})

const PAGE = 100
const CURSOR_TEXT = 'must be "next" from the previous page'

const OrderFilter = z.strictObject({
  account: AccountId.optional().describe('Only orders of this account'),
  state: OrderState.optional(),
  before: z
    .string()
    .regex(/^\d{1,12}$/, CURSOR_TEXT)
    .transform(Number)
    .optional()
    .describe('Value of `next` from the previous page'),
})

const listOrders = defineEndpoint({
  id: 'listOrders',
  route: 'GET /admin/orders',
  summary: 'List credit orders, newest first',
  query: OrderFilter,
  responses: okResponse(
    `A page of at most ${PAGE} orders`,
    z.object({
      orders: z.array(OrderView).describe('Orders, newest first'),
      next: z.string().nullable().describe('Value of `before` for the next page; null: last page'),
    }),
    { orders: [ORDER_EXAMPLE] },
  ),
  handle: async ({ query }, { checkout }) => {
    const orders = await checkout.list({ ...query, limit: PAGE })
    const last = orders[PAGE - 1]
    return reply(200, { orders: orders.map(orderView), next: last ? String(last.seq) : null })
  },
})

const payOrder = defineEndpoint({
  id: 'payOrder',
  route: 'POST /admin/orders/{number}/paid',
  summary: 'Mark an order as paid and grant its credits',
  description:
    'Idempotent: the grant is identified by the order number. Also works for orders whose payment failed or arrived late.',
  role: 'billing',
  params: ORDER_PARAMS,
  responses: okResponse('The paid order', OrderView, {
    ...ORDER_EXAMPLE,
    state: 'paid',
    paid: 1790000600000,
    granted: 1790000600000,
  }),
  refusals: [409],
  handle: async ({ params: { number } }, { checkout }) => {
    const order = await checkout.pay(number)
    return order.ok ? reply(200, orderView(order.value)) : order
  },
})

const voidOrder = defineEndpoint({
  id: 'voidOrder',
  route: 'POST /admin/orders/{number}/void',
  summary: 'Cancel an order',
  description: 'First ends the order’s session at the payment provider. A paid order is rejected with 409.',
  role: 'billing',
  params: ORDER_PARAMS,
  responses: okResponse('The canceled order', OrderView, {
    ...ORDER_EXAMPLE,
    state: 'void',
    note: 'canceled by the operator',
  }),
  refusals: [409],
  handle: async ({ params: { number } }, { checkout }) => {
    const order = await checkout.void(number)
    return order.ok ? reply(200, orderView(order.value)) : order
  },
})

export const ORDERS = [showCheckout, checkout, listOrders, payOrder, voidOrder]
