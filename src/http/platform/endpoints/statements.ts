// Monthly statements (UTC) and daily balances of an account, with current numbers from the meter. Invariants: opening +
// granted − expired − charged = closing; lines add up to charged plus written off; amounts are exact strings.

import * as z from 'zod'
import { formatCredits, type MicroCredits } from '../../../core/amount.ts'
import { csvText } from '../../../core/csv.ts'
import { AccountId } from '../../../core/ids.ts'
import { pairs } from '../../../core/pairs.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import type { Statement, StatementSums } from '../../../metering/statement.ts'
import { READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { exampleOf } from '../example.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import { Label } from '../key-shapes.ts'
import type { Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'
import { Day, dayText, RETENTION_DAYS, usageQuery, usageWindow } from '../usage-window.ts'

/** Usage is kept for 400 days, so older months would be incomplete. */
const KEPT_MONTHS = 13
/** Refunds of unserved stream minutes arrive within this time. */
const FINAL_AFTER_MS = 3_600_000

const Month = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'must be a UTC month such as 2026-11')
  .describe('UTC month')

const AMOUNTS = {
  opening: CreditsText.describe('Opening balance'),
  granted: CreditsText.describe('Credits from plans and grants'),
  expired: CreditsText.describe('Unused plan credits that expired'),
  charged: CreditsText.describe('Credits used by calls, stream minutes and pipeline rows'),
  written_off: CreditsText.describe(
    'Credits for usage that was reported after the balance ran out; part of the statement lines, but never charged',
  ),
  closing: CreditsText.describe('Closing or current balance: opening + granted − expired − charged'),
}

const SUMS = {
  month: Month,
  from: Day.describe('First UTC day'),
  to: Day.describe('Last UTC day, inclusive'),
  is_final: z.boolean().describe('Whether the statement is final (the month ended over an hour ago)'),
  ...AMOUNTS,
}

const MonthSums = z.object(SUMS).meta({ id: 'InvoiceSums' })

const MonthStatement = z
  .object({
    account: AccountId,
    ...SUMS,
    given: z
      .array(
        z.object({
          at: UnixMs.describe('Time, Unix milliseconds'),
          plan: z.string().nullable().describe('Plan that granted the credits; null: an individual grant'),
          credits: CreditsText.describe('Granted credits'),
        }),
      )
      .describe('Items of `granted`, oldest first'),
    lines: z
      .array(
        z.object({
          product: z
            .string()
            .describe('Product: `info`, `stream`, `rpc`, `data`, `pipeline`, …; `other`: sum of the remaining lines'),
          type: z.string().describe('Type, channel, method or topic'),
          prefix: z.string().nullable().describe('First 12 characters of the key'),
          label: Label,
          count: z.int().describe('Number of calls, minutes (`stream`) or rows (`pipeline`)'),
          credits: CreditsText.describe('Credits used'),
        }),
      )
      .describe('Items of `charged` and `written_off` by product, type and key, largest first'),
  })
  .meta({ id: 'Invoice' })

const MONTH_EXAMPLE = { from: '2026-11-01', to: '2026-11-30', is_final: true }
const STATEMENT_EXAMPLE = {
  ...MONTH_EXAMPLE,
  given: [{ at: 1793491200000, credits: '10000' }],
  lines: [{ count: 4 }],
}

type KeyNames = ReadonlyMap<string, { readonly prefix: string; readonly label: string }>

/** Start times of the last months, oldest first, then the end of the current month; in Unix milliseconds. */
export function monthTimes(nowMs: number): number[] {
  const now = new Date(nowMs)
  const monthIndex = now.getUTCFullYear() * 12 + now.getUTCMonth()
  return Array.from({ length: KEPT_MONTHS + 1 }, (_, i) => monthStart(monthIndex - KEPT_MONTHS + 1 + i))
}

function monthWindow(month: string): { readonly fromMs: number; readonly toMs: number } {
  const monthIndex = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1
  return { fromMs: monthStart(monthIndex), toMs: monthStart(monthIndex + 1) }
}

function monthStart(monthIndex: number): number {
  return Date.UTC(Math.floor(monthIndex / 12), monthIndex % 12, 1)
}

function statementView(sums: StatementSums, fromMs: number, toMs: number, nowMs: number) {
  return {
    month: dayText(fromMs).slice(0, 7),
    from: dayText(fromMs),
    to: dayText(toMs - 1),
    is_final: nowMs >= toMs + FINAL_AFTER_MS,
    ...amountsView(sums),
  }
}

function amountsView({ opening, granted, expired, charged, writtenOff, closing }: StatementSums) {
  return {
    opening: signed(opening),
    granted: signed(granted),
    expired: signed(expired),
    charged: signed(charged),
    written_off: formatCredits(writtenOff),
    closing: signed(closing),
  }
}

function statementOf(
  account: AccountId,
  { given, lines, ...sums }: Statement,
  names: KeyNames,
  [fromMs, toMs, nowMs]: readonly [number, number, number],
): z.infer<typeof MonthStatement> {
  return {
    account,
    ...statementView(sums, fromMs, toMs, nowMs),
    given: given.map(({ at, plan, amount }) => ({ at, plan, credits: formatCredits(amount) })),
    lines: lines.map(({ keyHash, product, type, count, amount }) => {
      const name = keyHash === null ? undefined : names.get(keyHash)
      const key = { prefix: name?.prefix ?? null, label: name?.label ?? '' }
      return { product, type, ...key, count, credits: signed(amount) }
    }),
  }
}

/** The statement as one CSV table. The first column names the kind of row. */
function statementCsv(invoice: z.infer<typeof MonthStatement>): string {
  const { month, opening, expired, written_off: writtenOff, charged, closing } = invoice
  const sum = (what: string, credits: string) => [what, month, '', '', '', '', '', credits]
  const given = invoice.given.map(({ at, plan, credits }) => [
    ...[plan === null ? 'grant' : 'plan', new Date(at).toISOString(), '', plan ?? '', '', '', '', credits],
  ])
  const lines = invoice.lines.map(({ product, type, prefix, label, count, credits }) => [
    ...['usage', month, product, type, prefix ?? '', label, String(count), credits],
  ])
  const ends = [sum('written_off', writtenOff), sum('charged', charged), sum('closing', closing)]
  return csvText(COLUMNS, [sum('opening', opening), ...given, sum('expired', expired), ...lines, ...ends])
}
const COLUMNS = ['row', 'time', 'product', 'type', 'key', 'label', 'count', 'credits']

function signed(micro: MicroCredits): string {
  return micro < 0 ? `-${formatCredits(-micro)}` : formatCredits(micro)
}

/** The current month is reported up to now. */
async function statementFor(
  account: AccountId,
  month: string,
  { meterOf, keys, now }: Platform,
): Promise<Result<ReturnType<typeof statementOf>, Refusal>> {
  const { fromMs, toMs } = monthWindow(month)
  const nowMs = now()
  const times = monthTimes(nowMs)
  const meter = meterOf(account)
  const { sinceMs } = await meter.statementSums([fromMs, toMs])
  const [beginMs = 0] = times
  if (fromMs < beginMs || fromMs >= (times.at(-1) ?? 0) || sinceMs === null || toMs <= sinceMs)
    return err(noStatement(month))
  const statement = await meter.statement(fromMs, toMs)
  const hashes = statement.lines.flatMap(({ keyHash }) => (keyHash === null ? [] : [keyHash]))
  const names = await keys.namesByHash([...new Set(hashes)])
  return ok(statementOf(account, statement, names, [fromMs, toMs, nowMs]))
}

function noStatement(month: string): Refusal {
  const hint = `There is no statement for ${month}. GET /platform/invoices/ lists all statements.`
  return { kind: 'not_found', what: 'This statement', hint }
}

const ownInvoices = defineEndpoint({
  id: 'ownInvoices',
  route: 'GET /platform/invoices/',
  summary: 'List monthly statements',
  description: `${READ_ACCESS_TEXT} Newest first, at most 13 months; the first entry is the current month so far.`,
  auth: 'key',
  responses: okResponse('The months', z.object({ invoices: z.array(MonthSums).describe('Statements, newest first') }), {
    invoices: [MONTH_EXAMPLE],
  }),
  handle: async ({ identity: { account } }, { meterOf, now }) => {
    const nowMs = now()
    const times = monthTimes(nowMs)
    const { sinceMs, sums } = await meterOf(account).statementSums(times)
    const invoices = pairs(times).flatMap(([fromMs, toMs], i) => {
      const each = sums[i]
      return each && sinceMs !== null && toMs > sinceMs ? [statementView(each, fromMs, toMs, nowMs)] : []
    })
    return reply(200, { invoices: invoices.reverse() })
  },
})

const ownInvoice = defineEndpoint({
  id: 'ownInvoice',
  route: 'GET /platform/invoices/{month}',
  summary: 'Show the statement of a UTC month',
  description: `${READ_ACCESS_TEXT} Amounts are exact: opening + granted − expired − charged = closing.`,
  auth: 'key',
  params: { month: Month },
  responses: okResponse('The statement', MonthStatement, STATEMENT_EXAMPLE),
  handle: async ({ params: { month }, identity: { account } }, platform) => {
    const invoice = await statementFor(account, month, platform)
    return invoice.ok ? reply(200, invoice.value) : invoice
  },
})

const ownInvoiceCsv = defineEndpoint({
  id: 'ownInvoiceCsv',
  route: 'GET /platform/invoices/{month}/csv',
  summary: 'Download the statement of a UTC month as CSV',
  description: READ_ACCESS_TEXT,
  auth: 'key',
  params: { month: Month },
  responses: okResponse(
    'A row for each sum and each line',
    z.string(),
    statementCsv(MonthStatement.parse(exampleOf(MonthStatement, STATEMENT_EXAMPLE))),
  ),
  handle: async ({ params: { month }, identity: { account } }, platform) => {
    const invoice = await statementFor(account, month, platform)
    if (!invoice.ok) return invoice
    return reply(200, statementCsv(invoice.value), { contentType: 'text/csv; charset=utf-8' })
  },
})

const BalanceDay = z.object({ date: Day, ...AMOUNTS }).meta({ id: 'BalanceDay' })

const ownBalances = defineEndpoint({
  id: 'ownBalances',
  route: 'GET /platform/balances/',
  summary: 'List daily balances and their changes',
  description: `${READ_ACCESS_TEXT} Default: the last month. Days before the account’s first credits and days over 400 days ago are omitted. The last entry covers today so far.`,
  auth: 'key',
  query: usageQuery({}),
  responses: okResponse('The days', z.object({ days: z.array(BalanceDay).describe('Days, oldest first') }), {
    days: [{ date: '2026-11-01' }],
  }),
  handle: async ({ query, identity: { account } }, { meterOf, now }) => {
    const window = usageWindow(query, now())
    if (!window.ok) return window
    const { fromMs, toMs } = window.value
    const times = Array.from({ length: (toMs - fromMs) / DAY_MS + 1 }, (_, i) => fromMs + i * DAY_MS)
    const { sinceMs, sums } = await meterOf(account).statementSums(times)
    const nowMs = now()
    // Omits older days: their grants are known, but part of their usage is not.
    const keptMs = nowMs - RETENTION_DAYS * DAY_MS
    const days = pairs(times).flatMap(([beginMs, endMs], i) => {
      const each = sums[i]
      const isKnown = each && sinceMs !== null && endMs > sinceMs && beginMs > keptMs && beginMs <= nowMs
      return isKnown ? [{ date: dayText(beginMs), ...amountsView(each) }] : []
    })
    return reply(200, { days })
  },
})

export const STATEMENTS = [ownInvoices, ownInvoice, ownInvoiceCsv, ownBalances]
