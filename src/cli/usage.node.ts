// `npm run admin -- usage ACCOUNT`: what an account used, by day, key and type, over the admin API.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described, reads } from '../core/command-line.node.ts'
import { err, ok } from '../core/result.ts'
import { accountPath } from './account-path.ts'
import type { Act } from './shell.node.ts'
import { headedTable } from './table.node.ts'
import { DayValue } from './values.ts'

const SUMS = { calls: z.number(), stream_minutes: z.number(), pipeline_rows: z.number(), credits: z.string() }
const Row = z.looseObject({
  date: z.string(),
  hash: z.string(),
  prefix: z.string().nullable(),
  label: z.string().nullable(),
  product: z.string(),
  type: z.string(),
  ...SUMS,
})
const Page = z.looseObject({
  from: z.string(),
  to: z.string(),
  totals: z.looseObject(SUMS),
  rows: z.array(Row),
  next: z.string().nullable(),
})
type Page = z.infer<typeof Page>

const HEADER = ['day', 'key', 'label', 'product', 'type', 'calls', 'stream minutes', 'rows', 'credits']

/** Adds `usage` to the operator's program. */
export function usageCommand(admin: Command, act: Act): void {
  described(admin.command('usage'), 'what an account used, by UTC day, key and type, and in all', [
    'acme',
    'acme --from 2026-11-01 --to 2026-11-30',
  ])
    .argument('<account>', 'id of the account')
    .option('--from <day>', 'first day; without it the last month', reads(DayValue))
    .option('--to <day>', 'last day, included; today unless said', reads(DayValue))
    .option('--duration <months>', '1, 3, 6 or 12 months up to today, in place of days')
    .action(
      act(async (gateway, account, window) => {
        const rows: Page['rows'] = []
        for (let after: string | null | undefined; ; ) {
          const said = Object.entries({ ...window, after }).filter((pair): pair is [string, string] => pair[1] != null)
          const query = new URLSearchParams(said)
          const page = await gateway.ask('GET', `${accountPath(account)}/usage?${query}`, Page)
          if (!page.ok) return window.to === undefined ? err(page.error.replace(/(?<=of) --to/, ' today (UTC)')) : page
          rows.push(...page.value.rows)
          after = page.value.next
          if (after === null) return ok({ json: { ...page.value, rows }, text: usageTable({ ...page.value, rows }) })
        }
      }),
    )
}

function usageTable({ rows, totals, from, to }: Page): string {
  const lines = rows.map(({ date, hash, prefix, label, product, type, ...sums }) => [
    ...[date, prefix ?? hash.slice(0, 12), label ?? '', product, type],
    ...sumsOf(sums),
  ])
  return headedTable([HEADER, ...lines, [`${from} to ${to}`, 'in all', '', '', '', ...sumsOf(totals)]])
}

function sumsOf({ calls, stream_minutes: minutes, pipeline_rows: rows, credits }: Page['totals']): (string | number)[] {
  return [calls, minutes, rows, credits]
}
