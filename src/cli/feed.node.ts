// `npm run admin -- feed …` and `history …`: the log of blocks, as a gateway tells of it in about ten lines, its reset, and
// what of the archive is removed by age.

import type { Command } from '@commander-js/extra-typings'
import type * as z from 'zod'
import type { Responses } from '../console/responses.ts'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { visible } from '../core/visible.ts'
import type { StatusShape } from '../protocol/feed/status-shape.ts'
import type { GatewayClient } from './gateway.node.ts'
import { type CommandAction, type CommandResult, toResult } from './shell.node.ts'
import { headedTable, table, timeText } from './table.node.ts'
import { RetentionDaysValue } from './values.ts'

/** Adds the commands of `feed` to the operator's program. */
export function feedCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('feed'), 'where the log of blocks stands')
  describeCommand(group.command('status'), 'how late the log is, its feeders, readers and gaps', ['']).action(
    act(async (gateway) => {
      const answer = await gateway.request<Status>('GET', '/status')
      if (!answer.ok) return answer
      return LIST_FIELDS.every((name) => Array.isArray(answer.value[name] ?? []))
        ? ok({ json: answer.value, text: table(feedLines(answer.value)) })
        : err('/status is not in the form of a Weir gateway: check --url.')
    }),
  )
  describeCommand(
    group.command('reset'),
    'begins a new log, for a node that started over: books and heights begin anew, accounts and keys stay',
    [''],
  ).action(
    act(async (gateway) => {
      return toResult(
        await gateway.request('POST', '/admin/feed/reset', ['reset']),
        () => 'The log is empty; the next feeder begins a new one.',
      )
    }),
  )
}

/** As `/status` answers; an older gateway may leave anything out. */
export type Status = Partial<z.infer<typeof StatusShape>>
type Lenient<T> = { readonly [Name in keyof T]?: T[Name] | undefined }
type Feeder = Lenient<NonNullable<Status['feeders']>[number]>
type ArchiveState = Lenient<NonNullable<Status['archive']>>
const LIST_FIELDS = ['regions', 'feeders', 'readers', 'gaps', 'sources'] as const

/** A reader is behind once it misses more than what is on its way. */
const BEHIND_BLOCKS = 5
const GAPS_SHOWN = 3

/** Names and what is to be said of them. */
export function feedLines(status: Status): [string, string][] {
  const { state, advice, chain, feedRegion, epoch, height, durable, time, lagMs, booksKnown, disagreements } = status
  // Ages by the gateway's clock, not by that of whoever asks.
  const nowMs = time == null || lagMs == null ? null : time + lagMs
  const late = lagMs == null ? '' : `, ${seconds(lagMs)} late`
  const each = (name: string, texts: readonly string[]) => texts.map((text): [string, string] => [name, text])
  const { archive, regions = [], sources = [] } = status
  const feeders = (status.feeders ?? []).map((feeder) => feederText(feeder, nowMs))
  return [
    ...each('state', state == null ? [] : [`${state}: ${advice ?? ''}`]),
    ['chain', `${chain ?? '?'}, epoch ${epoch ?? 'none'}${feedRegion == null ? '' : `, pinned to ${feedRegion}`}`],
    ['height', height == null ? 'the log is empty' : `${height}${late}; stored up to ${durable ?? 'nothing'}`],
    ['books', booksKnown === false ? 'not known until the next snapshot' : 'known'],
    ...each('feeder', feeders.length > 0 ? feeders : ['none is connected']),
    ['readers', readersText(status)],
    ...each('ages', regions.map(agesText)),
    ...each('archive', archive == null ? [] : [archiveText(archive, nowMs)]),
    ...each('files', archive?.files == null ? [] : [archiveText(archive.files, nowMs)]),
    ['gaps', gapsText(status)],
    ['disagreements', String(disagreements ?? '?')],
    ['sources', sources.map((source) => sourceText(source, nowMs)).join(', ') || 'none'],
  ]
}

function feederText({ name, connected, state, conflict, head, heardMs, endedMs, why }: Feeder, nowMs: number | null) {
  if (connected === false) return `${name}, gone${endedMs == null ? '' : ` since ${timeText(endedMs)}`}: ${why ?? '?'}`
  const parts = [
    name,
    `node at ${head ?? 'nothing yet'}`,
    ...(heardMs == null || nowMs === null ? [] : [`heard ${seconds(nowMs - heardMs)} ago`]),
    ...(state == null ? [] : [state]),
    ...(conflict == null ? [] : [`refused: ${conflict}`]),
  ]
  return parts.join(', ')
}

function readersText({ readers = [], height }: Status): string {
  const behind = readers
    .map(({ name, height: at }) => ({ name, by: (height ?? 0) - (at ?? 0) }))
    .filter(({ by }) => by > BEHIND_BLOCKS)
    .map(({ name, by }) => `${name} by ${by} blocks`)
  return `${readers.length}; ${behind.length === 0 ? 'none behind' : `behind: ${behind.join(', ')}`}`
}

function agesText({ region, relays, p50Ms, p99Ms }: NonNullable<Status['regions']>[number]): string {
  return `${region}: p50 ${p50Ms} ms, p99 ${p99Ms} ms, relays ${relays}`
}

function archiveText({ height, lagMs, failure, behind }: ArchiveState, nowMs: number | null): string {
  const blocks = behind == null ? '' : `${behind} blocks and `
  const place = height == null ? 'nothing yet' : `up to ${height}, ${blocks}${seconds(lagMs ?? 0)} behind`
  if (failure == null) return place
  const ago = nowMs === null ? '' : ` ${seconds(nowMs - failure.atMs)} ago`
  return `${place} (last failure${ago}: ${visible(failure.words)})`
}

function gapsText({ gaps = [] }: Status): string {
  if (gaps.length === 0) return 'none'
  const last = gaps
    .toSorted((a, b) => b.from - a.from)
    .slice(0, GAPS_SHOWN)
    .map(({ from, to, why }) => `${from === to ? from : `${from} to ${to}`}${why == null ? '' : ` (${why})`}`)
  return `${gaps.length}, the last: ${last.join(', ')}`
}

/** A source that is asked again is `ok`, whatever its callers have just seen. */
function sourceText(
  { name, state, lastFailure }: NonNullable<Status['sources']>[number],
  nowMs: number | null,
): string {
  const text = `${name} ${state ?? '?'}`
  if (lastFailure == null) return text
  const { atMs, type, reason } = lastFailure
  const ago = nowMs === null ? '' : ` ${seconds(nowMs - atMs)} ago`
  return `${text} (last failure${ago}: ${reason}, asked for ${type})`
}

function seconds(ms: number): string {
  return `${Math.max(0, ms / 1000).toFixed(1)} s`
}

const HEADER = ['product', 'kept days', 'files that go', 'MB', 'from', 'to']
const PATH = '/admin/history/retention'

/** Adds the commands of `history` to the operator's program. */
export function historyCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('history'), 'the archive')
  describeCommand(
    group.command('retention'),
    'removes what is older than its product is kept, as the archive does by itself bit by bit',
    ['--dry-run', '--dry-run --books-days 30'],
  )
    .option('--dry-run', 'say what would go, and remove nothing')
    .option('--events-days <days>', overrideHelp('EVENTS'), valueParser(RetentionDaysValue))
    .option('--books-days <days>', overrideHelp('BOOKS'), valueParser(RetentionDaysValue))
    .option('--checkpoints-days <days>', overrideHelp('CHECKPOINTS'), valueParser(RetentionDaysValue))
    .action(
      act(async (gateway, { dryRun = false, eventsDays, booksDays, checkpointsDays }) => {
        const days = { events_days: eventsDays, books_days: booksDays, checkpoints_days: checkpointsDays }
        const said = Object.entries(days).filter((pair): pair is [string, string] => pair[1] !== undefined)
        if (dryRun) return showPlan(gateway, new URLSearchParams(said))
        if (said.length === 0) return removeAll(gateway)
        return err('Days are tried with --dry-run; what is removed is what the variables ARCHIVE_KEEP_…_DAYS say.')
      }),
    )
}

const overrideHelp = (product: string) => `with --dry-run: in place of ARCHIVE_KEEP_${product}_DAYS; or none`

async function showPlan(gateway: GatewayClient, query: URLSearchParams): Promise<Result<CommandResult, string>> {
  const answer = await gateway.request<Responses['showRetention']>(
    'GET',
    query.size === 0 ? PATH : `${PATH}?${query}`,
    ['bytes', 'most_bytes', 'due'],
  )
  return toResult(answer, ({ bytes, most_bytes: most, due }) => {
    const rows = due.map((one) => [
      ...[one.product, one.days ?? 'for good', one.objects, megabytes(one.bytes)],
      ...[one.from_ms, one.to_ms].map((ms) => (ms === null ? null : timeText(ms))),
    ])
    const over =
      most === null || bytes <= most ? '' : `; ${megabytes(bytes - most)} MB over ARCHIVE_KEEP_MB, oldest first`
    return `${headedTable([HEADER, ...rows])}\n\n${megabytes(bytes)} MB are archived${over}.`
  })
}

async function removeAll(gateway: GatewayClient): Promise<Result<CommandResult, string>> {
  const sum = { objects: 0, bytes: 0 }
  for (;;) {
    const turn = await gateway.request<Responses['applyRetention']>('POST', PATH, ['objects', 'bytes'])
    if (!turn.ok) return turn
    sum.objects += turn.value.objects
    sum.bytes += turn.value.bytes
    if (turn.value.objects === 0)
      return ok({ json: sum, text: `${sum.objects} files were removed, ${megabytes(sum.bytes)} MB.` })
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
