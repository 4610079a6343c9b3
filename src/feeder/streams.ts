// The node's streams that the feeder reads: their folders, and the envelope of their lines.

import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import { Height } from '../protocol/feed/block.ts'

export const STREAMS = ['diffs', 'fills', 'misc', 'twaps', 'statuses', 'oracle', 'writer'] as const
export type StreamName = (typeof STREAMS)[number]

/** Folder of each stream in the node's data folder. */
export const STREAM_FOLDER: Readonly<Record<StreamName, string>> = {
  diffs: 'node_raw_book_diffs_by_block',
  fills: 'node_fills_by_block',
  misc: 'misc_events_by_block',
  twaps: 'node_twap_statuses_by_block',
  statuses: 'node_order_statuses_by_block',
  oracle: 'hip3_oracle_updates_by_block',
  writer: 'system_and_core_writer_actions_by_block',
}

/** Folder of the signed actions in the node's data folder. */
export const REPLICA_FOLDER = 'replica_cmds'

/** Required streams. A node may run without the other streams. */
export const REQUIRED_STREAMS: readonly StreamName[] = ['diffs', 'fills']

/**
 * Streams that no block waits for, and whose lines are never an error of the whole block. They are read only if the
 * gateway accepts them. They come last in STREAMS, so that they are read after the others.
 */
export const EXTRA_STREAMS = ['oracle', 'writer'] as const satisfies readonly StreamName[]
export type ExtraStream = (typeof EXTRA_STREAMS)[number]

export const isExtra = (name: StreamName): name is ExtraStream => EXTRA_STREAMS.some((extra) => extra === name)

/** A line with its height and time. `text`: the whole line. */
export interface StreamLine {
  readonly height: number
  /** Block time as the node writes it. The same height with a different time means a different chain. */
  readonly time: string
  readonly text: string
}

/**
 * First key of every line. It appears nowhere else in a line, so it marks the start of a complete line that follows a
 * partial one.
 */
export const LINE_BEGIN = '{"local_time"'

const HEIGHT_FIELD = /"block_number"\s*:\s*(\d{1,15})/
const TIME_FIELD = /"block_time"\s*:\s*"([^"]{10,40})"/
/** Characters searched for both fields, which precede the events. The events can have 20 MB. */
const HEAD_UNITS = 400

/** Height and time from a line's first characters; null if it is not a line of a `_by_block` stream. */
export function readLineHead(text: string): StreamLine | null {
  const head = text.length > HEAD_UNITS ? text.slice(0, HEAD_UNITS) : text
  const height = HEIGHT_FIELD.exec(head)?.[1]
  const time = TIME_FIELD.exec(head)?.[1]
  return height === undefined || time === undefined ? null : { height: Number(height), time, text }
}

const Envelope = z.looseObject({ block_number: Height, block_time: z.string(), events: z.array(z.unknown()) })

/** The events of a line. The error says what is wrong. */
export function readEvents(text: string, parse = parseJson): Result<unknown[], string> {
  const value = parse(text)
  if (value === undefined) return err('is not JSON')
  const parsed = Envelope.safeParse(value)
  return parsed.success ? ok(parsed.data.events) : err('has no block_number, block_time or events')
}

/** Unix ms of a time as nodes write it: UTC, with nanoseconds, without `Z`. NaN for any other string. */
export function nodeTimeMs(text: string): number {
  return Date.parse(`${text.length > 23 ? text.slice(0, 23) : text}Z`)
}
