// Credit orders: prices, ordering by the owner and settlement by the operator.

import * as z from 'zod'
import type { Checkout, PurchaseQuery } from '../../../billing/checkout/checkout-api.ts'
import { moneyText } from '../../../billing/checkout/money.ts'
import {
  CHECKOUT_PROVIDERS,
  PROVIDERS,
  PURCHASE_STATES,
  type Purchase,
  paymentOf,
} from '../../../billing/checkout/purchase.ts'
import { formatCredits } from '../../../core/amount.ts'
import { AccountId } from '../../../core/ids.ts'
import { MANAGE_ACCESS_TEXT, managingKey, READ_ACCESS_TEXT } from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Credits, CreditsText, UnixMs } from '../fields.ts'

export const OrderNumber = z
  .string()
  .regex(/^W-\d{1,12}-[1-9A-HJ-NP-Za-km-z]{4}$/, 'must be an order number such as W-17-k3Fz')
  .describe('Order number')
export const ORDER_PARAMS = { number: OrderNumber }

export const MoneyText = z.string().regex(/^\d+(\.\d{2,6})?$/)
export const CurrencyCode = z
  .string()
  .regex(/^[a-z][a-z0-9]{2,11}$/)
  .describe('ISO 4217 currency code, or symbol of a token, in lower case')

export const OrderState = z
  .enum(PURCHASE_STATES)
  .describe(
    '`open`: not paid yet; `paid`: paid, and credited unless `granted` is null; `failed`: payment failed; `void`: canceled',
  )

export const Provider = z
  .enum(PROVIDERS)
  .describe('Payment provider; `manual`: pay the operator, see `instructions`; `x402`: paid by a wallet')

/** How a payment is found where it was made. */
export const PAYMENT = {
  reference: z
    .string()
    .nullable()
    .describe(
      'Reference of the payment. `manual`: order number, to name in the transfer; `stripe`: Checkout Session; `x402`: transaction; null: none yet',
    ),
  network: z.string().nullable().describe('Network of an `x402` payment (CAIP-2); null: another provider'),
}

const OrderView = z
  .object({
    number: OrderNumber,
    account: AccountId,
    credits: CreditsText.describe('Ordered credits; they do not expire'),
    amount: MoneyText.describe('Price'),
    currency: CurrencyCode,
    provider: Provider,
    state: OrderState,
    url: z.string().nullable().describe('Payment page; null: manual payment, or no longer payable'),
    created: UnixMs,
    paid: UnixMs.nullable().describe('Payment time, Unix milliseconds; null: not paid'),
    granted: UnixMs.nullable().describe('Time of the credit grant, Unix milliseconds; null: not granted'),
    refunded: MoneyText.describe('Refunded amount; refunds do not remove credits'),
    note: z.string().nullable().describe('Remark about the order; null: none'),
    transaction: z.string().nullable().describe('Transaction of an `x402` payment; null: another provider, or unknown'),
    ...PAYMENT,
    invoice: z.boolean().describe('Whether the order has an invoice'),
  })
  .meta({ id: 'Order' })

const ORDER_EXAMPLE = {
  credits: '100000',
  url: null,
  granted: null,
  transaction: null,
  reference: 'W-17-k3Fz',
  network: null,
  invoice: true,
}

function orderView(order: Purchase) {
  const { number, account, micro, minor, currency, provider, state, created, paid, granted, note } = order
  const { reference, network } = paymentOf(order)
  return {
    number,
    account,
    provider,
    state,
    created,
    paid,
    granted,
    note,
    currency,
    credits: formatCredits(micro),
    amount: moneyText(minor, currency),
    refunded: moneyText(order.refunded, currency),
    url: state === 'open' ? order.url : null,
    transaction: order.receipt,
    reference,
    network,
    invoice: order.terms !== null,
  }
}

const ORDERS_MAX = 100

const Offers = z.object({
  provider: z.enum(CHECKOUT_PROVIDERS).nullable().describe('Payment provider; null: no credits for sale'),
  currency: CurrencyCode,
  tax: z
    .object({
      name: z.string().describe('Name of the tax'),
      rate: z.string().describe('Rate in percent'),
      included: z.boolean().describe('Whether the prices include the tax; if not, the amount of an order does'),
    })
    .nullable()
    .describe('Tax on the prices; null: none is stated'),
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
    tax: { name: 'VAT', rate: '19', included: true },
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
      tax: checkout.tax,
      currency,
      packages: packages.map((each) => ({ name: each.name, ...priced(each) })),
      lots: lots ? { ...priced(lots), most: lots.most } : null,
      instructions,
      orders: orders.map(orderView),
    })
  },
})

export const ONE_FIELD_TEXT = 'send either "package" or "credits", not both'

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

const OrderPage = z.strictObject({
  before: z
    .string()
    .regex(/^\d{1,12}$/, CURSOR_TEXT)
    .transform(Number)
    .optional()
    .describe('Value of `next` from the previous page'),
})

const OrderFilter = z.strictObject({
  account: AccountId.optional().describe('Only orders of this account'),
  provider: Provider.optional(),
  state: OrderState.optional(),
  ...OrderPage.shape,
})

const pageResponse = okResponse(
  `A page of at most ${PAGE} orders`,
  z.object({
    orders: z.array(OrderView).describe('Orders, newest first'),
    next: z.string().nullable().describe('Value of `before` for the next page; null: last page'),
  }),
  { orders: [ORDER_EXAMPLE] },
)

async function pageOfOrders(checkout: Checkout, query: Omit<PurchaseQuery, 'limit'>) {
  const orders = await checkout.list({ ...query, limit: PAGE })
  const last = orders[PAGE - 1]
  return reply(200, { orders: orders.map(orderView), next: last ? String(last.seq) : null })
}

const ownOrders = defineEndpoint({
  id: 'ownOrders',
  route: 'GET /platform/checkout/orders',
  summary: 'List the account’s orders, newest first',
  description: READ_ACCESS_TEXT,
  auth: 'key',
  query: OrderPage,
  responses: pageResponse,
  handle: ({ query, identity: { account } }, { checkout }) => pageOfOrders(checkout, { ...query, account }),
})

const listOrders = defineEndpoint({
  id: 'listOrders',
  route: 'GET /admin/orders',
  summary: 'List credit orders, newest first',
  query: OrderFilter,
  responses: pageResponse,
  handle: ({ query }, { checkout }) => pageOfOrders(checkout, query),
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

const Refund = z.strictObject({
  amount: z
    .string('must be an amount such as "19.00"')
    .regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be an amount such as "19.00"')
    .describe('Sum of all refunds of the order so far, in its currency'),
})

const refundOrder = defineEndpoint({
  id: 'refundOrder',
  route: 'POST /admin/orders/{number}/refund',
  summary: 'Record the refund of an order',
  description:
    'For orders that were paid manually or by x402: it records money that you returned, and moves none. The invoice gets a correction. Credits stay unchanged. Stripe reports its refunds by itself. Idempotent, because the amount is a sum; it cannot decrease.',
  role: 'billing',
  params: ORDER_PARAMS,
  body: { schema: Refund, optional: false, example: { amount: '19.00' } },
  responses: okResponse('The refunded order', OrderView, {
    ...ORDER_EXAMPLE,
    state: 'paid',
    paid: 1790000600000,
    granted: 1790000600000,
    refunded: '19.00',
  }),
  refusals: [409],
  handle: async ({ params: { number }, body }, { checkout }) => {
    const order = await checkout.recordRefund(number, body.amount)
    return order.ok ? reply(200, orderView(order.value)) : order
  },
})

export const ORDERS = [showCheckout, checkout, ownOrders, listOrders, payOrder, voidOrder, refundOrder]
