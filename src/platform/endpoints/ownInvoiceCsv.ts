// GET /platform/invoices/{month}/csv.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { INVOICE_EXAMPLE, invoiceCsv, Month } from '../invoice.ts'
import { invoiceFor } from '../invoice-of-month.ts'
import { FOR_READING } from '../own-account.ts'

export const ownInvoiceCsv = defineEndpoint(
  {
    id: 'ownInvoiceCsv',
    method: 'get',
    path: '/platform/invoices/{month}/csv',
    summary: 'The same as a table that spreadsheets read',
    description: FOR_READING,
    door: 'key',
    params: { month: Month },
    answers: {
      200: { description: 'A row for each sum and line', schema: z.string(), example: invoiceCsv(INVOICE_EXAMPLE) },
    },
    refusals: [400, 404],
  },
  async ({ params: { month }, identity: { account } }, platform) => {
    const invoice = await invoiceFor(account, month, platform)
    if (!invoice.ok) return invoice
    return reply(200, invoiceCsv(invoice.value), { contentType: 'text/csv; charset=utf-8' })
  },
)
