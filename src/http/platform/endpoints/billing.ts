// Billing details of an account, for the owner and the operator, and invoices of orders. Invariant: details and invoices
// need a key that manages the account, because they name a person or a company.

import * as z from 'zod'
import { BILLING_CHANGES_MAX, BillingDetails } from '../../../billing/checkout/billing-details.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { ACCOUNT, adminAndOwnEndpoints, MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import { AUTHOR_TEXT, AuthorName, authorNames } from './members.ts'
import { CurrencyCode, MoneyText, ORDER_PARAMS, OrderNumber, OrderState, PAYMENT, Provider } from './orders.ts'

const CHANGES_SHOWN = 20

/** In responses, which may gain fields. */
export const BillingDetailsView = z.object(BillingDetails.shape)

const BillingView = z
  .object({
    account: AccountId,
    details: BillingDetailsView.nullable().describe('Current billing details; null: none'),
    changes: z
      .array(
        z.object({
          at: UnixMs.describe('Time of the change, Unix milliseconds'),
          by: AuthorName.describe(`${AUTHOR_TEXT}; null: the operator`),
          details: BillingDetailsView.describe('Billing details from then on'),
        }),
      )
      .describe(`Changes, newest first, at most ${CHANGES_SHOWN}`),
  })
  .meta({ id: 'Billing' })

async function shown(account: AccountId, { billing, members }: Pick<Platform, 'billing' | 'members'>) {
  const changes = await billing.changes(account, CHANGES_SHOWN)
  const nameOf = await authorNames(members, account, changes)
  return reply(200, {
    account,
    details: changes[0]?.details ?? null,
    changes: changes.map((change) => ({ at: change.at, by: nameOf(change), details: change.details })),
  })
}

const DETAILS_EXAMPLE = {
  name: 'Acme Trading Ltd',
  address: ['1 Example Street', 'London EC1A 1AA'],
  country: 'GB',
  tax_id: 'GB123456789',
  email: 'accounts@example.com',
}
const VIEW_EXAMPLE = { details: DETAILS_EXAMPLE, changes: [{ by: 'kim@example.com', details: DETAILS_EXAMPLE }] }

const PATH = '/admin/accounts/{id}/billing'
const OWN_PATH = '/platform/billing/'

const showBilling = adminAndOwnEndpoints(ACCOUNT, {
  responses: okResponse('The billing details', BillingView, VIEW_EXAMPLE),
  admin: { id: 'showBilling', route: `GET ${PATH}`, summary: 'Show the billing details of an account' },
  own: { id: 'ownBilling', route: `GET ${OWN_PATH}`, summary: 'Show the billing details' },
  handle: ({ account }, platform) => shown(account, platform),
})

const SET_TEXT = 'Replaces all fields. Invoices of earlier orders do not change.'

const setBilling = adminAndOwnEndpoints(ACCOUNT, {
  body: { schema: BillingDetails, optional: false, example: DETAILS_EXAMPLE },
  responses: okResponse('The billing details', BillingView, VIEW_EXAMPLE),
  admin: {
    id: 'setBilling',
    route: `PUT ${PATH}`,
    summary: 'Set the billing details of an account',
    description: SET_TEXT,
    role: 'billing',
    refusals: [429],
  },
  own: {
    id: 'setOwnBilling',
    route: `PUT ${OWN_PATH}`,
    summary: 'Set the billing details',
    description: `${SET_TEXT} They can change ${BILLING_CHANGES_MAX} times per day (429).`,
  },
  handle: async ({ account, author, body }, platform) => {
    if (!(await platform.billing.set(account, body, author)))
      return err({ kind: 'limit_reached', limit: 'Billing changes per day', most: BILLING_CHANGES_MAX, hint: TOO_MANY })
    return shown(account, platform)
  },
})

const TOO_MANY = `The billing details changed ${BILLING_CHANGES_MAX} times in the last 24 hours. Try again tomorrow.`

const Day = z.string().regex(/^\d{4}-\d\d-\d\d$/)
const SignedMoney = z.string().regex(/^-?\d+(\.\d{2,6})?$/)

const InvoiceDocument = z
  .object({
    number: OrderNumber.describe('Invoice number, which is the order number'),
    account: AccountId,
    state: OrderState,
    issued: Day.describe('Issue date (UTC)'),
    due: Day.describe('Due date (UTC)'),
    seller: z
      .object({
        name: z.string().describe('Name'),
        address: z.array(z.string()).describe('Address lines'),
        tax_id: z.string().nullable().describe('Tax or VAT ID; null: none'),
        contact: z.string().nullable().describe('Contact; null: none'),
      })
      .describe('Seller at the time of the order'),
    buyer: BillingDetailsView.nullable().describe(
      'Billing details at the time of the order; null: the account had none',
    ),
    lines: z
      .array(
        z.object({
          description: z.string().describe('Description'),
          quantity: z.int().describe('Quantity'),
          unit_price: MoneyText.describe('Net price of one'),
          net: MoneyText.describe('Net price of the line'),
        }),
      )
      .describe('Lines'),
    currency: CurrencyCode,
    net: MoneyText.describe('Amount without tax'),
    tax: z
      .object({
        name: z.string().describe('Name of the tax'),
        rate: z.string().describe('Rate in percent'),
        amount: MoneyText.describe('Amount, rounded half up once per invoice'),
      })
      .nullable()
      .describe('Tax; null: the seller states none'),
    gross: MoneyText.describe('Amount to pay: `net` plus tax'),
    paid: MoneyText.describe('Amount paid'),
    refunded: MoneyText.describe('Amount refunded'),
    amount_due: MoneyText.describe('Amount that is still to be paid'),
    payment: z
      .object({
        method: Provider,
        ...PAYMENT,
        paid: UnixMs.nullable().describe('Payment time, Unix milliseconds; null: not paid'),
      })
      .describe('Payment'),
    instructions: z.string().describe('Current payment instructions; empty unless the order is manual and unpaid'),
    correction: z
      .object({
        issued: Day.nullable().describe('Date of the last refund (UTC); null: unknown'),
        net: SignedMoney.describe('Refunded net amount, negative'),
        tax: SignedMoney.describe('Refunded tax, negative'),
        gross: SignedMoney.describe('Refunded amount, negative'),
      })
      .nullable()
      .describe('Correction by refunds; null: nothing was refunded'),
    note: z.string().describe('Note of the seller'),
  })
  .meta({ id: 'OrderInvoice' })

const orderInvoice = defineEndpoint({
  id: 'orderInvoice',
  route: 'GET /platform/checkout/{number}/invoice',
  summary: 'Show the invoice of an order',
  description: `${MANAGE_ACCESS_TEXT} Seller, buyer and tax are those of the time of the order. Orders from before the operator turned invoices on have none (404).`,
  auth: 'service',
  params: ORDER_PARAMS,
  responses: okResponse('The invoice', InvoiceDocument, {
    state: 'paid',
    issued: '2026-09-21',
    due: '2026-10-05',
    seller: {
      name: 'Example Data GmbH',
      address: ['Musterstraße 1', '10115 Berlin', 'Germany'],
      tax_id: 'DE000000000',
      contact: 'billing@example.com',
    },
    buyer: DETAILS_EXAMPLE,
    lines: [{ description: '100,000 API credits', quantity: 1, unit_price: '15.97', net: '15.97' }],
    net: '15.97',
    tax: { name: 'VAT', rate: '19', amount: '3.03' },
    gross: '19.00',
    paid: '19.00',
    amount_due: '0.00',
    payment: { method: 'manual', reference: 'W-17-k3Fz', network: null, paid: 1790000600000 },
    instructions: '',
    correction: null,
    note: '',
  }),
  refusals: [404],
  handle: async ({ params: { number }, identity: { account, keyHash } }, { keys, checkout }) => {
    const caller = await managingKey(keys, keyHash)
    if (!caller.ok) return caller
    const invoice = await checkout.invoice(number, account)
    return invoice.ok ? reply(200, invoice.value) : invoice
  },
})

export const BILLING = [...showBilling, ...setBilling, orderInvoice]
