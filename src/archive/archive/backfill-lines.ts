// Parses blocks older than the archive, which an operator sends as one archive line per block. Invariants: lines are
// validated like the feed and re-encoded, so that they are stored exactly as the log would store them; errors name the
// line number and the field; heights increase but need not be consecutive.

import * as z from 'zod'
import { encodeBlock, hubBlockText } from '../../block-log/segment.ts'
import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { Address, Block, BookChange } from '../../protocol/feed/block.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import { withPayments } from '../../protocol/feed/payments.ts'
import type { ArchiveLine } from './segment-cutter.ts'

/**
 * Maximum uncompressed size of a body. This is enough for a few minutes of the real exchange, or for the payments of
 * one hourly funding.
 */
export const MAX_BACKFILL_BYTES = 20 * 1024 * 1024
/** Maximum height range of a body. It is limited because every height in the range is examined. */
export const MAX_BACKFILL_SPAN = 100_000

/** The known data of backfilled blocks: only fills, or all events. */
export type KnownEvents = 'fills' | 'events'

/** An epoch is a UUID. */
const MAX_EPOCH_CHARS = 36

export interface BackfillBlock extends ArchiveLine {
  readonly known: KnownEvents
}

const { height, time, fills, ledger, funding, events, twaps, payments, oracle, writer } = Block.shape
const Line = z.strictObject({
  v: z.literal(LOG_API_VERSION),
  t: z.literal('events'),
  only: z.literal('fills').optional(),
  epoch: z.string().nullish(),
  height,
  time,
  fills,
  ledger,
  funding,
  events,
  twaps,
  payments,
  oracle,
  writer,
  through: z.array(z.tuple([z.int().min(0), Address])).optional(),
  /** Absent if the changes of the books are unknown. `epoch`: the epoch of the archived books that they continue. */
  books: z.strictObject({ epoch: z.string().min(1).max(MAX_EPOCH_CHARS), changes: z.array(BookChange) }).optional(),
})
type Line = z.infer<typeof Line>

interface LineFault {
  /** 1-based line number. */
  readonly line: number
  readonly field: string
  readonly message: string
}

/** The line of a block of which only the fills are known. */
export function fillsLine(block: Pick<Block, 'height' | 'time' | 'fills'>): string {
  return markFills(encodeBlock({ ...block, ledger: [], funding: [], books: null }, null).events)
}

/** The line of a block of which all events are known. */
export function eventsLine(block: Omit<Block, 'books'>): string {
  const { events, payments } = encodeBlock({ ...block, books: null }, null)
  return withPayments(events, payments)
}

/** A line without books, with changes of books added. */
export function withBooks(line: string, epoch: string, changes: readonly BookChange[]): string {
  return `${line.slice(0, -1)},"books":${JSON.stringify({ epoch, changes })}}`
}

/** Parses one line and returns it in its stored form. */
export function readBackfillLine(text: string): Result<BackfillBlock, Omit<LineFault, 'line'>> {
  const bad = (message: string, field = '') => err({ field, message })
  if (isDeeperThan(text)) return bad(`nests deeper than ${JSON_MAX_DEPTH} levels`)
  const json = parseJson(text)
  if (json === undefined) return bad('is not complete JSON; the source may end mid-line')
  const parsed = parseWith(Line, json)
  if (!parsed.ok) return bad(parsed.error[0].message, parsed.error[0].path)
  const { only, through = [] } = parsed.value
  if (through.some(([fill]) => fill >= parsed.value.fills.length))
    return bad('refers to a fill that does not exist', 'through')
  return ok(encodeLine(parsed.value, only ?? 'events'))
}

function encodeLine(line: Line, known: KnownEvents): BackfillBlock {
  const { height, time, fills, ledger, funding, events, twaps, through, payments, oracle, writer } = line
  const extras = { ...(oracle && { oracle }), ...(writer && { writer }) }
  const others = { ...(events && { events }), ...(twaps && { twaps }), ...(payments !== undefined && { payments }) }
  const { epoch = null, changes = null } = line.books ?? {}
  const block = { height, time, fills, ledger, funding, ...others, ...extras, books: changes }
  const texts = encodeBlock(block, epoch, through)
  const whole = known === 'fills' ? markFills(texts.events) : withPayments(texts.events, texts.payments)
  return { height, time, epoch, known, events: whole, books: hubBlockText(texts, () => true) }
}

const markFills = (events: string) => `{"only":"fills",${events.slice(1)}`

/** Returns all lines of a body, or the first error. Yields the length of each line, because a body has up to 20 MiB. */
export function* readBackfill(text: string): Generator<number, Result<readonly BackfillBlock[], LineFault>> {
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  const blocks: BackfillBlock[] = []
  for (const [at, line] of lines.entries()) {
    const block = readBackfillLine(line)
    if (!block.ok) return err({ line: at + 1, ...block.error })
    const before = blocks.at(-1)?.height ?? -1
    if (block.value.height <= before)
      return err({ line: at + 1, field: 'height', message: `must be above ${before}, the height of the previous line` })
    const max = (blocks[0]?.height ?? block.value.height) + MAX_BACKFILL_SPAN
    if (block.value.height > max)
      return err({ line: at + 1, field: 'height', message: `must be at most ${max}; send it in the next request` })
    blocks.push(block.value)
    yield line.length
  }
  return ok(blocks)
}
