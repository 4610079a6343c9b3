// What an operator sends of blocks from before the archive: lines as the archive itself has them, a block each. Laws: a line
// is read by what the feed takes, and written anew, so that nothing else than the log itself would store is stored; one that
// is wrong is named by its number and field; heights rise, and may leave others out.

import * as z from 'zod'
import { encodeBlock, hubBlockText } from '../../block-log/segment.ts'
import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from '../../core/json.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { Address, Block } from '../../protocol/feed/block.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import { withPayments } from '../../protocol/feed/payments.ts'
import type { ArchiveLine } from './segment-cutter.ts'

/** Of one body, unpacked: a few minutes of the real exchange, or one with the funding of an hour. */
export const MAX_BACKFILL_BYTES = 20 * 1024 * 1024
/** From its first height to its last: what is there between is looked at. */
export const MAX_BACKFILL_SPAN = 100_000

/** What is known of blocks that the log never had: their fills, or all events. Of books nothing is. */
export type KnownEvents = 'fills' | 'events'

export interface BackfillBlock extends ArchiveLine {
  readonly known: KnownEvents
}

const { height, time, fills, ledger, funding, events, twaps, payments } = Block.shape
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
  through: z.array(z.tuple([z.int().min(0), Address])).optional(),
})
type Line = z.infer<typeof Line>

interface LineFault {
  /** From 1 on. */
  readonly line: number
  readonly field: string
  readonly message: string
}

/** The line of a block of which nothing but its fills is known. */
export function fillsLine(block: Pick<Block, 'height' | 'time' | 'fills'>): string {
  return `{"only":"fills",${encodeBlock({ ...block, ledger: [], funding: [], books: null }, null).events.slice(1)}`
}

/** One line, as it is stored. */
export function readBackfillLine(text: string): Result<BackfillBlock, Omit<LineFault, 'line'>> {
  const bad = (message: string, field = '') => err({ field, message })
  if (isDeeperThan(text)) return bad(`nests deeper than ${JSON_MAX_DEPTH} levels`)
  const json = parseJson(text)
  if (json === undefined) return bad('is not whole JSON: the source may end in the midst of a line')
  const parsed = parseWith(Line, json)
  if (!parsed.ok) return bad(parsed.error[0].message, parsed.error[0].path)
  const { only, through = [] } = parsed.value
  if (through.some(([fill]) => fill >= parsed.value.fills.length))
    return bad('names a fill that is not there', 'through')
  return ok(encodeLine(parsed.value, only ?? 'events'))
}

function encodeLine(line: Line, known: KnownEvents): BackfillBlock {
  const { height, time, fills, ledger, funding, events, twaps, through, payments } = line
  const others = { ...(events && { events }), ...(twaps && { twaps }), ...(payments !== undefined && { payments }) }
  const block = { height, time, fills, ledger, funding, ...others, books: null }
  const texts = encodeBlock(block, null, through)
  const whole =
    known === 'fills' ? `{"only":"fills",${texts.events.slice(1)}` : withPayments(texts.events, texts.payments)
  return { height, time, epoch: null, known, events: whole, books: hubBlockText(texts, () => true) }
}

/** All lines of a body, or the first that is wrong. */
export function readBackfill(text: string): Result<readonly BackfillBlock[], LineFault> {
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  const blocks: BackfillBlock[] = []
  for (const [at, line] of lines.entries()) {
    const block = readBackfillLine(line)
    if (!block.ok) return err({ line: at + 1, ...block.error })
    const before = blocks.at(-1)?.height ?? -1
    if (block.value.height <= before)
      return err({ line: at + 1, field: 'height', message: `must be above ${before}, that of the line before` })
    const most = (blocks[0]?.height ?? block.value.height) + MAX_BACKFILL_SPAN
    if (block.value.height > most)
      return err({ line: at + 1, field: 'height', message: `must be at most ${most}: send it with the next body` })
    blocks.push(block.value)
  }
  return ok(blocks)
}

/** The same for a request: its body as text. */
export const BackfillText = z.string().transform((text, { addIssue }) => {
  const blocks = readBackfill(text)
  if (blocks.ok) return blocks.value
  const { line, field, message } = blocks.error
  addIssue({ code: 'custom', path: [`line ${line}`, ...(field === '' ? [] : [field])], message })
  return z.NEVER
})
