// Invoices of an account: a UTC month each, as its meter's statement has it. Laws (test/http/platform/invoice.test.ts): opening and
// granted without expired and charged are closing; lines are charged and written off together; amounts are exact text.

import * as z from 'zod'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import { csvText } from '../../core/csv.ts'
import type { Statement, StatementSums } from '../../metering/statement.ts'
import { AccountId, CreditsText, UnixMs } from './fields.ts'
import { Label } from './key-shapes.ts'
import { Day, dayText } from './usage-window.ts'

/** Usage is kept for 400 days: of a month before these not all is known. */
const MONTHS = 13
/** What a relay could not serve is given back within that. */
const FINAL_AFTER_MS = 3_600_000

export const Month = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'must be a UTC month such as 2026-11')
  .describe('A UTC month')

/** Of a month or a day. */
export const AMOUNTS = {
  opening: CreditsText.describe('The balance when it began'),
  granted: CreditsText.describe('What plans and grants gave'),
  expired: CreditsText.describe('What plans had left when their periods ended'),
  charged: CreditsText.describe('What calls, minutes and rows cost'),
  written_off: CreditsText.describe(
    'Served, told of only when the balance was gone, and never charged: in the lines, and not in `charged`',
  ),
  closing: CreditsText.describe('The balance when it ended, or now: opening + granted − expired − charged'),
}

const SUMS = {
  month: Month,
  from: Day.describe('First UTC day'),
  to: Day.describe('Last UTC day, included'),
  is_final: z.boolean().describe('It changes no more: the month has been over for an hour'),
  ...AMOUNTS,
}

export const InvoiceSums = z.object(SUMS).meta({ id: 'InvoiceSums' })

export const Invoice = z
  .object({
    account: AccountId,
    ...SUMS,
    given: z
      .array(
        z.object({
          at: UnixMs.describe('When, Unix milliseconds'),
          plan: z.string().nullable().describe('The plan whose period it is of; null: a grant'),
          credits: CreditsText.describe('How much'),
        }),
      )
      .describe('What `granted` is made of, oldest first'),
    lines: z
      .array(
        z.object({
          product: z
            .string()
            .describe('`info`, `stream`, `rpc`, `data`, `pipeline`, …; `other`: what further lines have together'),
          type: z.string().describe('The type, channel, method or topic'),
          prefix: z.string().nullable().describe('The key’s first twelve characters'),
          label: Label,
          count: z.int().describe('Calls, minutes of `stream`, rows of `pipeline`'),
          credits: CreditsText.describe('What they cost'),
        }),
      )
      .describe('What `charged` and `written_off` are made of, by product, type and key, the most first'),
  })
  .meta({ id: 'Invoice' })

export const AMOUNTS_EXAMPLE = {
  opening: '0',
  granted: '10000',
  expired: '0',
  charged: '3.13',
  written_off: '0',
  closing: '9996.87',
}
export const SUMS_EXAMPLE = {
  month: '2026-11',
  from: '2026-11-01',
  to: '2026-11-30',
  is_final: true,
  ...AMOUNTS_EXAMPLE,
}
export const INVOICE_EXAMPLE = {
  account: 'acme',
  ...SUMS_EXAMPLE,
  given: [{ at: 1793491200000, plan: 'entry', credits: '10000' }],
  lines: [{ product: 'info', type: 'l2Book', prefix: 'cqt_9fKxWq2T', label: 'bot', count: 4, credits: '3.13' }],
}

type KeyNames = ReadonlyMap<string, { readonly prefix: string; readonly label: string }>

/** Unix ms at which the last months begin, oldest first, and at which this one ends. */
export function monthTimes(nowMs: number): number[] {
  const now = new Date(nowMs)
  const place = now.getUTCFullYear() * 12 + now.getUTCMonth()
  return Array.from({ length: MONTHS + 1 }, (_, i) => monthStart(place - MONTHS + 1 + i))
}

/** Beginning and end of a month in Unix ms. */
export function monthWindow(month: string): { readonly fromMs: number; readonly toMs: number } {
  const place = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1
  return { fromMs: monthStart(place), toMs: monthStart(place + 1) }
}

function monthStart(place: number): number {
  return Date.UTC(Math.floor(place / 12), place % 12, 1)
}

export function shownSums(sums: StatementSums, fromMs: number, toMs: number, nowMs: number) {
  return {
    month: dayText(fromMs).slice(0, 7),
    from: dayText(fromMs),
    to: dayText(toMs - 1),
    is_final: nowMs >= toMs + FINAL_AFTER_MS,
    ...shownAmounts(sums),
  }
}

export function shownAmounts({ opening, granted, expired, charged, writtenOff, closing }: StatementSums) {
  return {
    opening: signed(opening),
    granted: signed(granted),
    expired: signed(expired),
    charged: signed(charged),
    written_off: formatCredits(writtenOff),
    closing: signed(closing),
  }
}

export function invoiceOf(
  account: string,
  { given, lines, ...sums }: Statement,
  names: KeyNames,
  [fromMs, toMs, nowMs]: readonly [number, number, number],
): z.infer<typeof Invoice> {
  return {
    account,
    ...shownSums(sums, fromMs, toMs, nowMs),
    given: given.map(({ at, plan, amount }) => ({ at, plan, credits: formatCredits(amount) })),
    lines: lines.map(({ keyHash, product, type, count, amount }) => {
      const name = keyHash === null ? undefined : names.get(keyHash)
      const key = { prefix: name?.prefix ?? null, label: name?.label ?? '' }
      return { product, type, ...key, count, credits: signed(amount) }
    }),
  }
}

/** One table for all of it: what a row is stands in its first column. */
export function invoiceCsv(invoice: z.infer<typeof Invoice>): string {
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
