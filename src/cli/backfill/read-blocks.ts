// Blocks out of the files of a source, as the lines that the gateway takes. Laws: what cannot be read is named with its file
// and line and left out, a gap that a later run may fill; a file in a form that has no blocks ends the run.

import { fillsLine, readBackfillLine } from '../../archive/archive/backfill-lines.ts'
import { visible } from '../../core/visible.ts'
import { convertEvents } from '../../feeder/convert.ts'
import { LINE_BEGIN, nodeTimeMs, readEvents, readLineHead } from '../../feeder/streams.ts'
import type { PlannedFile } from './source-files.ts'
import type { BlockPosition } from './window.ts'

/** Far more than all fills of any block. */
const LINE_CHARS = 64 * 1024 * 1024

export interface ReadBlock extends BlockPosition {
  readonly line: string
}

/** A block that is wanted, or what is wrong with a line or the rest of a file; `place`: a block that is not wanted. */
export type ReadResult =
  | { readonly kind: 'block'; readonly block: ReadBlock }
  | { readonly kind: 'passed'; readonly place: BlockPosition }
  | { readonly kind: 'fault'; readonly sentence: string }

/** The source is of no use, for the reason in its message. */
export class SourceError extends Error {
  override name = 'SourceRefusal'
}

/** What is inside of a file is not what it should be. */
export class FileError extends Error {
  override name = 'FileFault'
}

export async function* readBlocks(
  file: PlannedFile,
  wants: (place: BlockPosition) => boolean,
): AsyncGenerator<ReadResult> {
  const read = file.form.kind === 'node' ? readNodeLine : readArchiveLine
  const fault = (words: string): ReadResult => ({ kind: 'fault', sentence: `${file.path} ${words}` })
  let last = { height: -1, events: '' }
  try {
    for await (const line of textLines(file.open(), LINE_CHARS)) {
      const found = read(line.text, wants)
      if (typeof found !== 'string' && found.kind !== 'fault') {
        const { height } = found.kind === 'block' ? found.block : found.place
        const events = line.text.slice(line.text.indexOf('"events"'))
        // A node that was started anew may write its last block again.
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
  'has an event a line and no heights of blocks, and without them nothing tells a gap: take node_fills_by_block, which a node writes with --write-fills --batch-by-block.'

const streamingText = (height: number) =>
  `two lines of height ${height}, as --stream-with-block-info writes them, where a block without fills has none and looks like a gap: take node_fills_by_block, which a node writes with --batch-by-block.`

function lineFaultText({ number, isEnded }: TextLine, found: string): string {
  if (isEnded) return `line ${number} ${found}: its block stays a gap.`
  return `ends in the midst of line ${number}: copy it again once it is whole, and run this again.`
}

function fileFaultText({ name, message, code }: NodeError): string {
  if (message === 'is cut short' || code === 'Z_BUF_ERROR')
    return 'is cut short: what was whole of it was read; copy it again, and run this again.'
  if (name === FileError.name) return `${message}: what stands before was read; copy it again, and run this again.`
  if (code?.startsWith('Z_'))
    return `is damaged (${code}): what stands before was read; copy it again, and run this again.`
  return `cannot be read on (${code ?? visible(message)}): run this again.`
}

/** A line of a node; text: what is wrong with it. Behind what a killed node left of a line the next one begins. */
function readNodeLine(text: string, wants: (place: BlockPosition) => boolean): ReadResult | string {
  return parseNodeLine(text.slice(Math.max(0, text.lastIndexOf(LINE_BEGIN))), wants)
}

function parseNodeLine(text: string, wants: (place: BlockPosition) => boolean): ReadResult | string {
  const head = readLineHead(text)
  if (!head) return 'has no block_number and block_time'
  const place = { height: head.height, time: nodeTimeMs(head.time) }
  if (!Number.isSafeInteger(place.time) || place.time < 0) return 'has a block_time that is none'
  if (!wants(place)) return { kind: 'passed', place }
  const events = readEvents(text)
  if (!events.ok) return events.error
  const bad: string[] = []
  const { fills } = convertEvents({ fills: events.value, misc: null, twaps: null, statuses: null }, (why) =>
    bad.push(why),
  )
  if (bad.length > 0) return `has a ${visible(bad[0] ?? '')}`
  return { kind: 'block', block: { ...place, line: fillsLine({ ...place, fills }) } }
}

function readArchiveLine(text: string, wants: (place: BlockPosition) => boolean): ReadResult | string {
  const read = readBackfillLine(text)
  if (!read.ok) return visible(`${read.error.field} ${read.error.message}`.trim())
  const { height, time, events: line } = read.value
  return wants({ height, time })
    ? { kind: 'block', block: { height, time, line } }
    : { kind: 'passed', place: { height, time } }
}

interface TextLine {
  readonly text: string
  /** From 1 on. */
  readonly number: number
  /** It ended with a line feed: the last line of a file that is written, or was cut, has none. */
  readonly isEnded: boolean
}

/** The lines of a file with something in them. Bytes that are no UTF-8 are an error, and no other text. */
export async function* textLines(chunks: AsyncIterable<Uint8Array>, mostChars: number): AsyncGenerator<TextLine> {
  const decode = utf8()
  let rest = ''
  let number = 0
  for await (const chunk of chunks) {
    const piece = decoded(decode, number, chunk)
    if (piece.includes('\n')) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) if (++number && text !== '') yield { text, number, isEnded: true }
    } else rest += piece
    if (rest.length > mostChars) throw new FileError(`has a line (${number + 1}) of more than ${mostChars} characters`)
  }
  rest += decoded(decode, number)
  if (rest !== '') yield { text: rest, number: number + 1, isEnded: false }
}

type Decode = (chunk?: Uint8Array) => string

/** Without a chunk: that was all. */
function utf8(): Decode {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  return (chunk) => decoder.decode(chunk, { stream: chunk !== undefined })
}

function decoded(decode: Decode, number: number, chunk?: Uint8Array): string {
  try {
    return decode(chunk)
  } catch {
    throw new FileError(`is no text behind line ${number}`)
  }
}
