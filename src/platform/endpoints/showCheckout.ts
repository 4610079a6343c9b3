// GET /platform/checkout.

import * as z from 'zod'
import { moneyText } from '../../checkout/money.ts'
import { PROVIDERS } from '../../checkout/order.ts'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { CreditsText } from '../fields.ts'
import { CurrencyCode, MoneyText, ORDER_EXAMPLE, ShownOrder, shownOrder } from '../order-shapes.ts'

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
  orders: z.array(ShownOrder).describe(`The account’s orders, newest first, at most ${ORDERS_MAX}`),
})

export const showCheckout = defineEndpoint(
  {
    id: 'showCheckout',
    method: 'get',
    path: '/platform/checkout',
    summary: 'What credits cost here, and the account’s orders',
    door: 'key',
    answers: {
      200: {
        description: 'Prices and orders',
        schema: enveloped(Offers),
        example: inEnvelope({
          provider: 'manual',
          currency: 'eur',
          packages: [{ name: 'small', credits: '100000', amount: '19.00' }],
          lots: { credits: '10000', amount: '2.00', most: 1000 },
          instructions: 'To the account on our website, with the number of the order.',
          orders: [ORDER_EXAMPLE],
        }),
      },
    },
    refusals: [],
  },
  async ({ identity }, { checkout }) => {
    const { currency, packages, lots, instructions } = checkout.prices
    const priced = <Sold extends { readonly credits: number; readonly minor: number }>({ credits, minor }: Sold) => ({
      credits: formatCredits(credits),
      amount: moneyText(minor, currency),
    })
    const orders = await checkout.list({ account: identity.account, limit: ORDERS_MAX })
    return reply(
      200,
      inEnvelope({
        provider: checkout.provider,
        currency,
        packages: packages.map((each) => ({ name: each.name, ...priced(each) })),
        lots: lots ? { ...priced(lots), most: lots.most } : null,
        instructions,
        orders: orders.map(shownOrder),
      }),
    )
  },
)
