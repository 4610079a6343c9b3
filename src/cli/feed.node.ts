// `npx weir admin feed …` and `history …`: status and reset of the block log, and removal of old archive files.

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
  const group = describeCommand(admin.command('feed'), 'show and reset the block log')
  describeCommand(group.command('status'), 'show delay, feeders, readers and missing blocks', ['']).action(
    act(async (gateway) => {
      const answer = await gateway.request<Status>('GET', '/status')
      if (!answer.ok) return answer
      return LIST_FIELDS.every((name) => Array.isArray(answer.value[name] ?? []))
        ? ok({ json: answer.value, text: table(feedLines(answer.value)) })
        : err('/status does not look like that of a Weir gateway. Check --url.')
    }),
  )
  describeCommand(
    group.command('reset'),
    'start a new log after the node has started over: books and heights restart; accounts and keys stay',
    [''],
  ).action(
    act(async (gateway) => {
      return toResult(
        await gateway.request('POST', '/admin/feed/reset', ['reset']),
        () => 'The log is empty. The next feeder starts a new one.',
      )
    }),
  )
}

/** The response of `/status`; an older gateway may omit fields. */
export type Status = Partial<z.infer<typeof StatusShape>>
type Lenient<T> = { readonly [Name in keyof T]?: T[Name] | undefined }
type Feeder = Lenient<NonNullable<Status['feeders']>[number]>
type ArchiveState = Lenient<NonNullable<Status['archive']>>
const LIST_FIELDS = ['regions', 'feeders', 'readers', 'gaps', 'sources'] as const

/** Fewer blocks than this may just be in transit. */
const BEHIND_BLOCKS = 5
const GAPS_SHOWN = 3

/** Name and value of each line. */
export function feedLines(status: Status): [string, string][] {
  const { state, advice, chain, feedRegion, epoch, height, durable, time, lagMs, booksKnown, disagreements } = status
  // Ages use the clock of the gateway, not of this machine.
  const nowMs = time == null || lagMs == null ? null : time + lagMs
  const late = lagMs == null ? '' : `, ${seconds(lagMs)} late`
  const each = (name: string, texts: readonly string[]) => texts.map((text): [string, string] => [name, text])
  const { archive, regions = [], sources = [] } = status
  const feeders = (status.feeders ?? []).map((feeder) => feederText(feeder, nowMs))
  return [
    ...each('state', state == null ? [] : [`${state}: ${advice ?? ''}`]),
    ['chain', `${chain ?? '?'}, epoch ${epoch ?? 'none'}${feedRegion == null ? '' : `, pinned to ${feedRegion}`}`],
    ['height', height == null ? 'the log is empty' : `${height}${late}; stored up to ${durable ?? 'nothing'}`],
    ['books', booksKnown === false ? 'unavailable until the next snapshot' : 'available'],
    ...each('feeder', feeders.length > 0 ? feeders : ['none connected']),
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
  if (connected === false)
    return `${name}, disconnected${endedMs == null ? '' : ` since ${timeText(endedMs)}`}: ${why ?? '?'}`
  const parts = [
    name,
    `node at ${head ?? 'nothing yet'}`,
    ...(heardMs == null || nowMs === null ? [] : [`last message ${seconds(nowMs - heardMs)} ago`]),
    ...(state == null ? [] : [state]),
    ...(conflict == null ? [] : [`rejected: ${conflict}`]),
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
  const position = height == null ? 'nothing yet' : `up to ${height}, ${blocks}${seconds(lagMs ?? 0)} behind`
  if (failure == null) return position
  const ago = nowMs === null ? '' : ` ${seconds(nowMs - failure.atMs)} ago`
  return `${position} (last failure${ago}: ${visible(failure.words)})`
}

function gapsText({ gaps = [] }: Status): string {
  if (gaps.length === 0) return 'none'
  const last = gaps
    .toSorted((a, b) => b.from - a.from)
    .slice(0, GAPS_SHOWN)
    .map(({ from, to, why }) => `${from === to ? from : `${from} to ${to}`}${why == null ? '' : ` (${why})`}`)
  return `${gaps.length}, latest: ${last.join(', ')}`
}

/** A source is `ok` as soon as it is tried again, even if its last request failed. */
function sourceText(
  { name, state, lastFailure }: NonNullable<Status['sources']>[number],
  nowMs: number | null,
): string {
  const text = `${name} ${state ?? '?'}`
  if (lastFailure == null) return text
  const { atMs, type, reason } = lastFailure
  const ago = nowMs === null ? '' : ` ${seconds(nowMs - atMs)} ago`
  return `${text} (last failure${ago}: ${reason} for ${type})`
}

function seconds(ms: number): string {
  return `${Math.max(0, ms / 1000).toFixed(1)} s`
}

const HEADER = ['product', 'days kept', 'files to remove', 'MB', 'from', 'to']
const PATH = '/admin/history/retention'

/** Adds the commands of `history` to the operator's program. */
export function historyCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('history'), 'manage the archive')
  describeCommand(
    group.command('retention'),
    'remove files that are older than the retention of their product, which also happens automatically over time',
    ['--dry-run', '--dry-run --books-days 30'],
  )
    .option('--dry-run', 'show what would be removed, and remove nothing')
    .option('--events-days <days>', overrideHelp('EVENTS'), valueParser(RetentionDaysValue))
    .option('--books-days <days>', overrideHelp('BOOKS'), valueParser(RetentionDaysValue))
    .option('--checkpoints-days <days>', overrideHelp('CHECKPOINTS'), valueParser(RetentionDaysValue))
    .action(
      act(async (gateway, { dryRun = false, eventsDays, booksDays, checkpointsDays }) => {
        const days = { events_days: eventsDays, books_days: booksDays, checkpoints_days: checkpointsDays }
        const given = Object.entries(days).filter((pair): pair is [string, string] => pair[1] !== undefined)
        if (dryRun) return showPlan(gateway, new URLSearchParams(given))
        if (given.length === 0) return removeAll(gateway)
        return err(
          'Pass --dry-run to preview a different number of days. Removal always uses the variables ARCHIVE_KEEP_…_DAYS.',
        )
      }),
    )
}

const overrideHelp = (product: string) => `with --dry-run: days or none, instead of ARCHIVE_KEEP_${product}_DAYS`

async function showPlan(gateway: GatewayClient, query: URLSearchParams): Promise<Result<CommandResult, string>> {
  const answer = await gateway.request<Responses['showRetention']>(
    'GET',
    query.size === 0 ? PATH : `${PATH}?${query}`,
    ['bytes', 'most_bytes', 'due'],
  )
  return toResult(answer, ({ bytes, most_bytes: maxBytes, due }) => {
    const rows = due.map((one) => [
      ...[one.product, one.days ?? 'forever', one.objects, megabytes(one.bytes)],
      ...[one.from_ms, one.to_ms].map((ms) => (ms === null ? null : timeText(ms))),
    ])
    const over =
      maxBytes === null || bytes <= maxBytes
        ? ''
        : `; ${megabytes(bytes - maxBytes)} MB over ARCHIVE_KEEP_MB are removed, oldest first`
    return `${headedTable([HEADER, ...rows])}\n\n${megabytes(bytes)} MB are archived${over}.`
  })
}

async function removeAll(gateway: GatewayClient): Promise<Result<CommandResult, string>> {
  const sum = { objects: 0, bytes: 0 }
  for (;;) {
    const page = await gateway.request<Responses['applyRetention']>('POST', PATH, ['objects', 'bytes'])
    if (!page.ok) return page
    sum.objects += page.value.objects
    sum.bytes += page.value.bytes
    if (page.value.objects === 0)
      return ok({ json: sum, text: `Removed ${sum.objects} files (${megabytes(sum.bytes)} MB).` })
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
