// `/status` of a gateway in about ten lines.

import * as z from 'zod'
import { visible } from '../core/visible.ts'
import { timeText } from './key-state.ts'

const Figure = z.number().nullish()
const Text = z.string().nullish()

const Feeder = z.looseObject({
  name: z.string(),
  connected: z.boolean().optional(),
  state: Text,
  conflict: Text,
  head: Figure,
  heardMs: Figure,
  endedMs: Figure,
  why: Text,
})
type Feeder = z.infer<typeof Feeder>

const Failure = z.looseObject({ atMs: z.number(), words: z.string() }).nullish()

const Source = z.looseObject({
  name: z.string(),
  state: Text,
  lastFailure: z.looseObject({ atMs: z.number(), type: z.string(), reason: z.string() }).nullish(),
})

/** What of `/status` is shown; all of it may be absent. */
export const Status = z.looseObject({
  state: Text,
  advice: Text,
  chain: Text,
  feedRegion: Text,
  regions: z
    .array(z.looseObject({ region: z.string(), relays: z.number(), p50Ms: z.number(), p99Ms: z.number() }))
    .default([]),
  epoch: Text,
  height: Figure,
  durable: Figure,
  time: Figure,
  lagMs: Figure,
  booksKnown: z.boolean().optional(),
  feeders: z.array(Feeder).default([]),
  readers: z.array(z.looseObject({ name: z.string(), height: Figure })).default([]),
  gaps: z.array(z.looseObject({ from: z.number(), to: z.number(), why: Text })).default([]),
  archive: z
    .looseObject({
      height: Figure,
      behind: Figure,
      lagMs: Figure,
      failure: Failure,
      files: z.looseObject({ height: Figure, lagMs: Figure, failure: Failure }).nullish(),
    })
    .nullish(),
  disagreements: Figure,
  sources: z.array(Source).default([]),
})
type Status = z.infer<typeof Status>
type Archive = NonNullable<Status['archive']>
type Told = Pick<Archive, 'height' | 'lagMs' | 'failure'> & { readonly behind?: number | null | undefined }

/** A reader is behind once it misses more than what is on its way. */
const BEHIND_BLOCKS = 5
const GAPS_SHOWN = 3

/** Names and what is to be said of them. */
export function feedLines(status: Status): [string, string][] {
  const { state, advice, chain, feedRegion, epoch, height, durable, time, lagMs, booksKnown, disagreements } = status
  // Ages by the gateway's clock, not by that of whoever asks.
  const nowMs = time == null || lagMs == null ? null : time + lagMs
  const late = lagMs == null ? '' : `, ${seconds(lagMs)} late`
  const feeders = status.feeders.map((feeder): [string, string] => ['feeder', feederText(feeder, nowMs)])
  return [
    ...(state == null ? [] : [['state', `${state}: ${advice ?? ''}`] satisfies [string, string]]),
    ['chain', `${chain ?? '?'}, epoch ${epoch ?? 'none'}${feedRegion == null ? '' : `, pinned to ${feedRegion}`}`],
    ['height', height == null ? 'the log is empty' : `${height}${late}; stored up to ${durable ?? 'nothing'}`],
    ['books', booksKnown === false ? 'not known until the next snapshot' : 'known'],
    ...(feeders.length > 0 ? feeders : [['feeder', 'none is connected'] satisfies [string, string]]),
    ['readers', readersText(status)],
    ...status.regions.map((ages): [string, string] => ['ages', agesText(ages)]),
    ...(status.archive == null ? [] : [['archive', archiveText(status.archive, nowMs)] satisfies [string, string]]),
    ...(status.archive?.files == null
      ? []
      : [['files', archiveText(status.archive.files, nowMs)] satisfies [string, string]]),
    ['gaps', gapsText(status)],
    ['disagreements', String(disagreements ?? '?')],
    ['sources', status.sources.map((source) => sourceText(source, nowMs)).join(', ') || 'none'],
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

function readersText({ readers, height }: Status): string {
  const behind = readers
    .map(({ name, height: at }) => ({ name, by: (height ?? 0) - (at ?? 0) }))
    .filter(({ by }) => by > BEHIND_BLOCKS)
    .map(({ name, by }) => `${name} by ${by} blocks`)
  return `${readers.length}; ${behind.length === 0 ? 'none behind' : `behind: ${behind.join(', ')}`}`
}

function agesText({ region, relays, p50Ms, p99Ms }: Status['regions'][number]): string {
  return `${region}: p50 ${p50Ms} ms, p99 ${p99Ms} ms, relays ${relays}`
}

function archiveText({ height, lagMs, failure, behind }: Told, nowMs: number | null): string {
  const blocks = behind == null ? '' : `${behind} blocks and `
  const place = height == null ? 'nothing yet' : `up to ${height}, ${blocks}${seconds(lagMs ?? 0)} behind`
  if (failure == null) return place
  const ago = nowMs === null ? '' : ` ${seconds(nowMs - failure.atMs)} ago`
  return `${place} (last failure${ago}: ${visible(failure.words)})`
}

function gapsText({ gaps }: Status): string {
  if (gaps.length === 0) return 'none'
  const last = gaps
    .toSorted((a, b) => b.from - a.from)
    .slice(0, GAPS_SHOWN)
    .map(({ from, to, why }) => `${from === to ? from : `${from} to ${to}`}${why == null ? '' : ` (${why})`}`)
  return `${gaps.length}, the last: ${last.join(', ')}`
}

/** A source that is asked again is `ok`, whatever its callers have just seen. */
function sourceText({ name, state, lastFailure }: z.infer<typeof Source>, nowMs: number | null): string {
  const text = `${name} ${state ?? '?'}`
  if (lastFailure == null) return text
  const { atMs, type, reason } = lastFailure
  const ago = nowMs === null ? '' : ` ${seconds(nowMs - atMs)} ago`
  return `${text} (last failure${ago}: ${reason}, asked for ${type})`
}

function seconds(ms: number): string {
  return `${Math.max(0, ms / 1000).toFixed(1)} s`
}
