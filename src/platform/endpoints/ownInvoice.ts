// GET /platform/invoices/{month}: the lines of a month. Numbers are the meter's own of this moment.

import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { INVOICE_EXAMPLE, Invoice, Month } from '../invoice.ts'
import { invoiceFor } from '../invoice-of-month.ts'
import { FOR_READING } from '../own-account.ts'

export const ownInvoice = defineEndpoint(
  {
    id: 'ownInvoice',
    method: 'get',
    path: '/platform/invoices/{month}',
    summary: 'What the account was given and charged in a UTC month, line by line',
    description: `${FOR_READING} Amounts are exact: opening + granted − expired − charged = closing.`,
    door: 'key',
    params: { month: Month },
    answers: {
      200: { description: 'The invoice', schema: enveloped(Invoice), example: inEnvelope(INVOICE_EXAMPLE) },
    },
    refusals: [400, 404],
  },
  async ({ params: { month }, identity: { account } }, platform) => {
    const invoice = await invoiceFor(account, month, platform)
    return invoice.ok ? reply(200, inEnvelope(invoice.value)) : invoice
  },
)
