// Invoices and daily balances of an account. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { pairs } from '../../../core/pairs.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import { FOR_READING } from '../account-resource.ts'
import { defineEndpoint, okAnswer, reply } from '../endpoint.ts'
import {
  AMOUNTS,
  AMOUNTS_EXAMPLE,
  INVOICE_EXAMPLE,
  Invoice,
  InvoiceSums,
  invoiceCsv,
  invoiceOf,
  Month,
  monthTimes,
  monthWindow,
  SUMS_EXAMPLE,
  shownAmounts,
  shownSums,
} from '../invoice.ts'
import type { Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'
import { Day, dayText, KEPT_DAYS, usageQuery, usageWindow } from '../usage-window.ts'

/** A month that is not over yet is told as far as it has come. */
async function invoiceFor(
  account: string,
  month: string,
  { meterOf, keys, now }: Platform,
): Promise<Result<ReturnType<typeof invoiceOf>, Refusal>> {
  const { fromMs, toMs } = monthWindow(month)
  const nowMs = now()
  const times = monthTimes(nowMs)
  const meter = meterOf(account)
  const { sinceMs } = await meter.statementSums([fromMs, toMs])
  const [beginMs = 0] = times
  if (fromMs < beginMs || fromMs >= (times.at(-1) ?? 0) || sinceMs === null || toMs <= sinceMs) return err(none(month))
  const statement = await meter.statement(fromMs, toMs)
  const hashes = statement.lines.flatMap(({ keyHash }) => (keyHash === null ? [] : [keyHash]))
  const names = await keys.names([...new Set(hashes)])
  return ok(invoiceOf(account, statement, names, [fromMs, toMs, nowMs]))
}

function none(month: string): Refusal {
  const hint = `There is no invoice of ${month}: GET /platform/invoices/ lists those that there are.`
  return { kind: 'not_found', what: 'This invoice', hint }
}

const ownInvoices = defineEndpoint({
  id: 'ownInvoices',
  route: 'GET /platform/invoices/',
  summary: 'What the account was given and charged, a UTC month each',
  description: `${FOR_READING} Newest first, at most thirteen months; the first one is this month so far.`,
  door: 'key',
  answers: okAnswer('The months', z.object({ invoices: z.array(InvoiceSums).describe('Newest first') }), {
    invoices: [SUMS_EXAMPLE],
  }),
  answer: async ({ identity: { account } }, { meterOf, now }) => {
    const nowMs = now()
    const times = monthTimes(nowMs)
    const { sinceMs, sums } = await meterOf(account).statementSums(times)
    const invoices = pairs(times).flatMap(([fromMs, toMs], i) => {
      const each = sums[i]
      return each && sinceMs !== null && toMs > sinceMs ? [shownSums(each, fromMs, toMs, nowMs)] : []
    })
    return reply(200, { invoices: invoices.reverse() })
  },
})

const ownInvoice = defineEndpoint({
  id: 'ownInvoice',
  route: 'GET /platform/invoices/{month}',
  summary: 'What the account was given and charged in a UTC month, line by line',
  description: `${FOR_READING} Amounts are exact: opening + granted − expired − charged = closing.`,
  door: 'key',
  params: { month: Month },
  answers: okAnswer('The invoice', Invoice, INVOICE_EXAMPLE),
  refusals: [400, 404],
  answer: async ({ params: { month }, identity: { account } }, platform) => {
    const invoice = await invoiceFor(account, month, platform)
    return invoice.ok ? reply(200, invoice.value) : invoice
  },
})

const ownInvoiceCsv = defineEndpoint({
  id: 'ownInvoiceCsv',
  route: 'GET /platform/invoices/{month}/csv',
  summary: 'The same as a table that spreadsheets read',
  description: FOR_READING,
  door: 'key',
  params: { month: Month },
  answers: okAnswer('A row for each sum and line', z.string(), invoiceCsv(INVOICE_EXAMPLE)),
  refusals: [400, 404],
  answer: async ({ params: { month }, identity: { account } }, platform) => {
    const invoice = await invoiceFor(account, month, platform)
    if (!invoice.ok) return invoice
    return reply(200, invoiceCsv(invoice.value), { contentType: 'text/csv; charset=utf-8' })
  },
})

const BalanceDay = z.object({ date: Day, ...AMOUNTS }).meta({ id: 'BalanceDay' })

const ownBalances = defineEndpoint({
  id: 'ownBalances',
  route: 'GET /platform/balances/',
  summary: 'The balance of the account, a UTC day each, and what moved it',
  description: `${FOR_READING} Without parameters the last month. Days before the account’s first credits, and of more than 400 days ago, are left out; the last one is today so far.`,
  door: 'key',
  query: usageQuery({}),
  answers: okAnswer('The days', z.object({ days: z.array(BalanceDay).describe('Oldest first') }), {
    days: [{ date: '2026-11-01', ...AMOUNTS_EXAMPLE }],
  }),
  refusals: [400],
  answer: async ({ query, identity: { account } }, { meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const times = Array.from({ length: (toMs - fromMs) / DAY_MS + 1 }, (_, i) => fromMs + i * DAY_MS)
    const { sinceMs, sums } = await meterOf(account).statementSums(times)
    const nowMs = now()
    // Of days before, what came is known, and not all that was spent.
    const keptMs = nowMs - KEPT_DAYS * DAY_MS
    const days = pairs(times).flatMap(([beginMs, endMs], i) => {
      const each = sums[i]
      const isKnown = each && sinceMs !== null && endMs > sinceMs && beginMs > keptMs && beginMs <= nowMs
      return isKnown ? [{ date: dayText(beginMs), ...shownAmounts(each) }] : []
    })
    return reply(200, { days })
  },
})

export const STATEMENTS = [ownInvoices, ownInvoice, ownInvoiceCsv, ownBalances]
