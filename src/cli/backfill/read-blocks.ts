// Reads blocks from the files of a source as lines for the gateway. Invariants: an unreadable line is reported with its file
// and line number and stays a gap that a later run can fill; a file format without blocks ends the run.

import { eventsLine, fillsLine, readBackfillLine } from '../../archive/archive/backfill-lines.ts'
import { visible } from '../../core/visible.ts'
import { convertEvents } from '../../feeder/convert.ts'
import { LINE_BEGIN, nodeTimeMs, readEvents, readLineHead } from '../../feeder/streams.ts'
import type { OtherStreams, PlannedFile } from './source-files.ts'
import { fileFaultText, LINE_CHARS, type NodeError, type TextLine, textLines } from './text-lines.ts'
import type { BlockPosition } from './window.ts'

export interface ReadBlock extends BlockPosition {
  readonly line: string
}

/** A needed block, the position of a skipped block, or a fault in a line or the rest of a file. */
export type ReadResult =
  | { readonly kind: 'block'; readonly block: ReadBlock }
  | { readonly kind: 'skipped'; readonly position: BlockPosition }
  | { readonly kind: 'fault'; readonly sentence: string }

/** The source cannot be used, for the reason in the message. */
export class SourceError extends Error {
  override name = 'SourceRefusal'
}

export async function* readBlocks(
  file: PlannedFile,
  isNeeded: (position: BlockPosition) => boolean,
): AsyncGenerator<ReadResult> {
  const read = (text: string) =>
    file.form.kind === 'node' ? readNodeLine(text, isNeeded, file.others) : readArchiveLine(text, isNeeded)
  const fault = (text: string): ReadResult => ({ kind: 'fault', sentence: `${file.path} ${text}` })
  let last = { height: -1, events: '' }
  try {
    for await (const line of textLines(file.open(), LINE_CHARS)) {
      const found = await read(line.text)
      for (const stream of Object.values(file.others ?? {})) {
        const unread = stream.takeFault()
        if (unread !== null) yield { kind: 'fault', sentence: unread }
      }
      if (typeof found !== 'string' && found.kind !== 'fault') {
        const { height } = found.kind === 'block' ? found.block : found.position
        const events = line.text.slice(line.text.indexOf('"events"'))
        // A restarted node may write its last block again.
        if (height === last.height && events === last.events) continue
        if (height === last.height) throw new SourceError(`${file.path} has ${streamingText(height)}`)
        last = { height, events }
      }
      if (typeof found !== 'string') yield found
      else if (line.number === 1 && /^\s*(?:\[|{"coin")/.test(line.text))
        throw new SourceError(`${file.path} ${UNBATCHED_TEXT}`)
      else yield fault(lineFaultText(line, found))
    }
  } catch (error) {
    if (error instanceof SourceError) throw error
    yield fault(fileFaultText(error as NodeError))
  }
}

const UNBATCHED_TEXT =
  'has one event per line without block heights, so gaps cannot be detected. Use node_fills_by_block, which a node writes with --write-fills --batch-by-block.'

const streamingText = (height: number) =>
  `two lines of height ${height}, as written by --stream-with-block-info. That format has no line for blocks without fills, so they look like gaps. Use node_fills_by_block, which a node writes with --batch-by-block.`

function lineFaultText({ number, isEnded }: TextLine, found: string): string {
  if (isEnded) return `line ${number} ${found}; its block stays a gap.`
  return `ends in the middle of line ${number}. Copy it again once it is complete, and rerun this command.`
}

/** A line of a node file, or a string that describes its fault. A killed node may leave a partial line in front of the next line. */
async function readNodeLine(
  line: string,
  isNeeded: (position: BlockPosition) => boolean,
  others: OtherStreams | undefined,
): Promise<ReadResult | string> {
  const text = line.slice(Math.max(0, line.lastIndexOf(LINE_BEGIN)))
  const head = readLineHead(text)
  if (!head) return 'has no block_number and block_time'
  const position = { height: head.height, time: nodeTimeMs(head.time) }
  if (!Number.isSafeInteger(position.time) || position.time < 0) return 'has an invalid block_time'
  if (!isNeeded(position)) return { kind: 'skipped', position }
  const events = readEvents(text)
  if (!events.ok) return events.error
  const misc = (await others?.misc.eventsAt(position)) ?? null
  const twaps = (await others?.twaps.eventsAt(position)) ?? null
  const oracle = (await others?.oracle.eventsAt(position)) ?? null
  const writer = (await others?.writer.eventsAt(position)) ?? null
  const bad: string[] = []
  const all = { fills: events.value, misc, twaps, statuses: null, oracle, writer }
  const parts = convertEvents(all, position.time, (why) => bad.push(why))
  // Other unusable events are left out, as in the feed.
  const fault = bad.find((why) => why.startsWith('fill:'))
  if (fault !== undefined) return `has a ${visible(fault)}`
  const block = { ...position, ...parts }
  return { kind: 'block', block: { ...position, line: misc === null ? fillsLine(block) : eventsLine(block) } }
}

function readArchiveLine(text: string, isNeeded: (position: BlockPosition) => boolean): ReadResult | string {
  const read = readBackfillLine(text)
  if (!read.ok) return visible(`${read.error.field} ${read.error.message}`.trim())
  const { height, time, events: line } = read.value
  return isNeeded({ height, time })
    ? { kind: 'block', block: { height, time, line } }
    : { kind: 'skipped', position: { height, time } }
}
