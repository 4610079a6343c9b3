// Orders of credits: what they cost, how an owner orders, how the operator settles.

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
  .regex(/^W-\d{1,12}-[1-9A-HJ-NP-Za-km-z]{4}$/, 'must be the number of an order, such as W-17-k3Fz')
  .describe('Number of the order')
const ORDER_PARAMS = { number: OrderNumber }

export const MoneyText = z.string().regex(/^\d+(\.\d{2,3})?$/)
export const CurrencyCode = z
  .string()
  .regex(/^[a-z]{3}$/)
  .describe('Of ISO 4217, in small letters')

const OrderState = z
  .enum(PURCHASE_STATES)
  .describe(
    '`open`: not paid yet; `paid`: its credits are there, unless `granted` is null; `failed`: the payment failed; `void`: it is not to be paid any more',
  )

const OrderView = z
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
  provider: z.enum(PROVIDERS).nullable().describe('Who takes the money; null: nothing is sold here'),
  currency: CurrencyCode,
  packages: z
    .array(
      z.object({
        name: z.string().describe('By which it is ordered'),
        credits: CreditsText.describe('Credits in it'),
        amount: MoneyText.describe('What it costs'),
      }),
    )
    .describe('Credits that are sold together'),
  lots: z
    .object({
      credits: CreditsText.describe('Credits of one lot'),
      amount: MoneyText.describe('What a lot costs'),
      most: z.int().describe('Lots of one order'),
    })
    .nullable()
    .describe('How any number of credits is sold; null: it is not'),
  instructions: z.string().describe('How an order is paid by hand'),
  orders: z.array(OrderView).describe(`The account’s orders, newest first, at most ${ORDERS_MAX}`),
})

const showCheckout = defineEndpoint({
  id: 'showCheckout',
  route: 'GET /platform/checkout',
  summary: 'What credits cost here, and the account’s orders',
  auth: 'key',
  responses: okResponse('Prices and orders', Offers, {
    provider: 'manual',
    packages: [{ name: 'small', credits: '100000' }],
    lots: { credits: '10000', amount: '2.00', most: 1000 },
    instructions: 'To the account on our website, with the number of the order.',
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

const ONE_FIELD_TEXT = 'send "package" or "credits", and not both'

const NewOrder = z
  .strictObject({
    package: z.string().max(64).optional().describe('Name of a package of `GET /platform/checkout`'),
    credits: Credits.optional().describe('So many, where they are sold in lots: a multiple of one'),
  })
  .refine((wanted) => (wanted.package === undefined) !== (wanted.credits === undefined), ONE_FIELD_TEXT)

const checkout = defineEndpoint({
  id: 'checkout',
  route: 'POST /platform/checkout',
  summary: 'Order credits for the account',
  description:
    `${MANAGE_ACCESS_TEXT} Answers with the order: it is paid at its \`url\`, or by hand as the operator says. Its credits come ` +
    'once it is paid and do not expire. An account orders at most 20 times a day what is not paid yet (429).',
  auth: 'service',
  body: { schema: NewOrder, optional: false, example: { package: 'small' } },
  responses: createdResponse('The order', z.object({ order: OrderView.describe('The order') }), {
    order: ORDER_EXAMPLE,
  }),
  refusals: [404],
  handle: async ({ identity: { account, keyHash }, body }, { keys, checkout: orders }) => {
    const caller = await managingKey(keys, keyHash)
    if (!caller.ok) return caller
    const begun = await orders.start(account, body)
    return begun.ok ? reply(201, { order: orderView(begun.value) }) : begun
  },
})

const PAGE = 100
const CURSOR_TEXT = 'must be the "next" of the page before'

const OrderFilter = z.strictObject({
  account: AccountId.optional().describe('Orders of this account alone'),
  state: OrderState.optional(),
  before: z
    .string()
    .regex(/^\d{1,12}$/, CURSOR_TEXT)
    .transform(Number)
    .optional()
    .describe('`next` of the page before'),
})

const listOrders = defineEndpoint({
  id: 'listOrders',
  route: 'GET /admin/orders',
  summary: 'Orders of credits, newest first',
  query: OrderFilter,
  responses: okResponse(
    `At most ${PAGE} orders`,
    z.object({
      orders: z.array(OrderView).describe('Newest first'),
      next: z.string().nullable().describe('`before` of the next page; null: this is the last'),
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
  summary: 'Mark an order paid, which grants its credits once',
  description:
    'The number of the order is the id of its grant: again is the same. Also for an order whose payment was refused or ' +
    'came too late.',
  role: 'billing',
  params: ORDER_PARAMS,
  responses: okResponse('It is paid, and its credits are there', OrderView, {
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
  summary: 'Make an order void, so that it is not paid any more',
  description:
    'Where a provider takes the money its session is ended first; an order that is paid is refused with 409.',
  role: 'billing',
  params: ORDER_PARAMS,
  responses: okResponse('It is void', OrderView, {
    ...ORDER_EXAMPLE,
    state: 'void',
    note: 'made void by the operator',
  }),
  refusals: [409],
  handle: async ({ params: { number } }, { checkout }) => {
    const order = await checkout.void(number)
    return order.ok ? reply(200, orderView(order.value)) : order
  },
})

export const ORDERS = [showCheckout, checkout, listOrders, payOrder, voidOrder]
