// `npm run admin -- history …`: what of the archive is removed by age.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described, reads } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { Gateway } from './gateway.node.ts'
import { timeText } from './key-state.ts'
import type { Act, Done } from './shell.node.ts'
import { headedTable } from './table.node.ts'
import { KeptDaysValue } from './values.ts'

const Due = z.looseObject({
  product: z.string(),
  days: z.number().nullable(),
  objects: z.number(),
  bytes: z.number(),
  from_ms: z.number().nullable(),
  to_ms: z.number().nullable(),
})
const Plan = z.looseObject({ bytes: z.number(), most_bytes: z.number().nullable(), due: z.array(Due) })
const Freed = z.looseObject({ objects: z.number(), bytes: z.number() })

const HEADER = ['product', 'kept days', 'files that go', 'MB', 'from', 'to']
const PATH = '/admin/history/retention'

/** Adds the commands of `history` to the operator's program. */
export function historyCommands(admin: Command, act: Act): void {
  const group = described(admin.command('history'), 'the archive')
  described(
    group.command('retention'),
    'removes what is older than its product is kept, as the archive does by itself bit by bit',
    ['--dry-run', '--dry-run --books-days 30'],
  )
    .option('--dry-run', 'say what would go, and remove nothing')
    .option(
      '--events-days <days>',
      'with --dry-run: in place of ARCHIVE_KEEP_EVENTS_DAYS; or none',
      reads(KeptDaysValue),
    )
    .option('--books-days <days>', 'with --dry-run: in place of ARCHIVE_KEEP_BOOKS_DAYS; or none', reads(KeptDaysValue))
    .option(
      '--checkpoints-days <days>',
      'with --dry-run: in place of ARCHIVE_KEEP_CHECKPOINTS_DAYS; or none',
      reads(KeptDaysValue),
    )
    .action(
      act(async (gateway, { dryRun = false, eventsDays, booksDays, checkpointsDays }) => {
        const days = { events_days: eventsDays, books_days: booksDays, checkpoints_days: checkpointsDays }
        const said = Object.entries(days).filter((pair): pair is [string, string] => pair[1] !== undefined)
        if (dryRun) return shownPlan(gateway, new URLSearchParams(said))
        if (said.length === 0) return removeAll(gateway)
        return err('Days are tried with --dry-run; what is removed is what the variables ARCHIVE_KEEP_…_DAYS say.')
      }),
    )
}

async function shownPlan(gateway: Gateway, query: URLSearchParams): Promise<Result<Done, string>> {
  const answer = await gateway.ask('GET', query.size === 0 ? PATH : `${PATH}?${query}`, Plan)
  if (!answer.ok) return answer
  const { bytes, most_bytes: most, due } = answer.value
  const rows = due.map((one) => [
    ...[one.product, one.days ?? 'for good', one.objects, megabytes(one.bytes)],
    ...[one.from_ms, one.to_ms].map((ms) => (ms === null ? null : timeText(ms))),
  ])
  const over =
    most === null || bytes <= most ? '' : `; ${megabytes(bytes - most)} MB over ARCHIVE_KEEP_MB, oldest first`
  return ok({
    json: answer.value,
    text: `${headedTable([HEADER, ...rows])}\n\n${megabytes(bytes)} MB are archived${over}.`,
  })
}

async function removeAll(gateway: Gateway): Promise<Result<Done, string>> {
  const sum = { objects: 0, bytes: 0 }
  for (;;) {
    const turn = await gateway.ask('POST', PATH, Freed)
    if (!turn.ok) return turn
    sum.objects += turn.value.objects
    sum.bytes += turn.value.bytes
    if (turn.value.objects === 0)
      return ok({ json: sum, text: `${sum.objects} files were removed, ${megabytes(sum.bytes)} MB.` })
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
