// Reads blocks from the files of a source as lines for the gateway. Invariants: an unreadable line is reported with its file
// and line number and stays a gap that a later run can fill; a file format without blocks ends the run.

import { fillsLine, readBackfillLine } from '../../archive/archive/backfill-lines.ts'
import { visible } from '../../core/visible.ts'
import { convertEvents } from '../../feeder/convert.ts'
import { LINE_BEGIN, nodeTimeMs, readEvents, readLineHead } from '../../feeder/streams.ts'
import type { PlannedFile } from './source-files.ts'
import type { BlockPosition } from './window.ts'

/** Far larger than the fills of any block. */
const LINE_CHARS = 64 * 1024 * 1024

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

/** The content of a file is invalid. */
export class FileError extends Error {
  override name = 'FileFault'
}

export async function* readBlocks(
  file: PlannedFile,
  isNeeded: (position: BlockPosition) => boolean,
): AsyncGenerator<ReadResult> {
  const read = file.form.kind === 'node' ? readNodeLine : readArchiveLine
  const fault = (text: string): ReadResult => ({ kind: 'fault', sentence: `${file.path} ${text}` })
  let last = { height: -1, events: '' }
  try {
    for await (const line of textLines(file.open(), LINE_CHARS)) {
      const found = read(line.text, isNeeded)
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

type NodeError = Error & { readonly code?: string }

const UNBATCHED_TEXT =
  'has one event per line without block heights, so gaps cannot be detected. Use node_fills_by_block, which a node writes with --write-fills --batch-by-block.'

const streamingText = (height: number) =>
  `two lines of height ${height}, as written by --stream-with-block-info. That format has no line for blocks without fills, so they look like gaps. Use node_fills_by_block, which a node writes with --batch-by-block.`

function lineFaultText({ number, isEnded }: TextLine, found: string): string {
  if (isEnded) return `line ${number} ${found}; its block stays a gap.`
  return `ends in the middle of line ${number}. Copy it again once it is complete, and rerun this command.`
}

function fileFaultText({ name, message, code }: NodeError): string {
  if (message === 'is truncated' || code === 'Z_BUF_ERROR')
    return 'is truncated; its complete part was read. Copy it again, and rerun this command.'
  if (name === FileError.name)
    return `${message}; the part before the damage was read. Copy it again, and rerun this command.`
  if (code?.startsWith('Z_'))
    return `is damaged (${code}); the part before the damage was read. Copy it again, and rerun this command.`
  return `cannot be read further (${code ?? visible(message)}). Rerun this command.`
}

/** A line of a node file, or a string that describes its fault. A killed node may leave a partial line in front of the next line. */
function readNodeLine(text: string, isNeeded: (position: BlockPosition) => boolean): ReadResult | string {
  return parseNodeLine(text.slice(Math.max(0, text.lastIndexOf(LINE_BEGIN))), isNeeded)
}

function parseNodeLine(text: string, isNeeded: (position: BlockPosition) => boolean): ReadResult | string {
  const head = readLineHead(text)
  if (!head) return 'has no block_number and block_time'
  const position = { height: head.height, time: nodeTimeMs(head.time) }
  if (!Number.isSafeInteger(position.time) || position.time < 0) return 'has an invalid block_time'
  if (!isNeeded(position)) return { kind: 'skipped', position }
  const events = readEvents(text)
  if (!events.ok) return events.error
  const bad: string[] = []
  const { fills } = convertEvents({ fills: events.value, misc: null, twaps: null, statuses: null }, (why) =>
    bad.push(why),
  )
  if (bad.length > 0) return `has a ${visible(bad[0] ?? '')}`
  return { kind: 'block', block: { ...position, line: fillsLine({ ...position, fills }) } }
}

function readArchiveLine(text: string, isNeeded: (position: BlockPosition) => boolean): ReadResult | string {
  const read = readBackfillLine(text)
  if (!read.ok) return visible(`${read.error.field} ${read.error.message}`.trim())
  const { height, time, events: line } = read.value
  return isNeeded({ height, time })
    ? { kind: 'block', block: { height, time, line } }
    : { kind: 'skipped', position: { height, time } }
}

interface TextLine {
  readonly text: string
  /** Starts at 1. */
  readonly number: number
  /** Whether it ended with a line feed; the last line of an incomplete file does not. */
  readonly isEnded: boolean
}

/** The non-empty lines of a file. Invalid UTF-8 is an error and never replaced. */
export async function* textLines(chunks: AsyncIterable<Uint8Array>, maxChars: number): AsyncGenerator<TextLine> {
  const decode = utf8()
  let rest = ''
  let number = 0
  for await (const chunk of chunks) {
    const part = decoded(decode, number, chunk)
    if (part.includes('\n')) {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) if (++number && text !== '') yield { text, number, isEnded: true }
    } else rest += part
    if (rest.length > maxChars) throw new FileError(`has a line (${number + 1}) of more than ${maxChars} characters`)
  }
  rest += decoded(decode, number)
  if (rest !== '') yield { text: rest, number: number + 1, isEnded: false }
}

type Decode = (chunk?: Uint8Array) => string

/** Call it without a chunk after the last chunk. */
function utf8(): Decode {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  return (chunk) => decoder.decode(chunk, { stream: chunk !== undefined })
}

function decoded(decode: Decode, number: number, chunk?: Uint8Array): string {
  try {
    return decode(chunk)
  } catch {
    throw new FileError(`is not UTF-8 text after line ${number}`)
  }
}
