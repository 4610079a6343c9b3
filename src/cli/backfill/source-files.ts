// Selects the files of a source that hold needed blocks. Files are recognized by path, in the layout of a node's data folder,
// the exchange's bucket, or an archive.

import { err, ok, type Result } from '../../core/result.ts'
import { HOUR_MS } from '../../core/time.ts'
import { STREAM_FOLDER } from '../../feeder/streams.ts'
import { StreamReader } from './stream-reader.ts'
import type { ArchivedRange } from './window.ts'
import { type BlockPosition, timesOf, type Window } from './window.ts'

/** `open` returns the decompressed content. */
export interface SourceFile {
  readonly path: string
  readonly bytes: number
  readonly open: () => AsyncIterable<Uint8Array>
}

export type FileForm =
  /**
   * A file that a node wrote during one hour of its own clock. Its blocks are from that hour or slightly older. `stream`:
   * the folder of the stream; null if the path does not have it.
   */
  | { readonly kind: 'node'; readonly stream: string | null; readonly fromMs: number }
  | { readonly kind: 'archive'; readonly chain: string | null; readonly first: number; readonly last: number }

/** `others`: streams of the same node with the other events of each block. */
export type PlannedFile = SourceFile & { readonly form: FileForm; readonly others?: OtherStreams }

const OTHER_STREAMS = ['misc', 'twaps', 'oracle', 'writer'] as const
export type OtherStreams = Readonly<Record<(typeof OTHER_STREAMS)[number], StreamReader>>

/** A synced node writes a block at most this long after its time. */
const FILE_LAG_MS = 600_000
const BY_BLOCK = STREAM_FOLDER.fills
const ARCHIVE_FILE = /(?:^|\/)(?:archive\/([^/]+)\/)?\d{4}-\d\d-\d\d\/(\d{12,16})-(\d{12,16})\.events\.gz$/
const HOURLY_FILE = /(?:^|\/)(?:([^/]+)\/)??(?:hourly\/)?(\d{4})(\d\d)(\d\d)\/(\d{1,2})(?:\.lz4)?$/
const STREAM = /^(?:node_|misc_events|hip3_|system_and_|replica_cmds)/

const WITHOUT_HEIGHTS = `has no block heights, so gaps cannot be detected. Use ${BY_BLOCK} (in the exchange's bucket since 2025-07-27), which a node writes with --write-fills --batch-by-block`
const WITHOUT_EMPTY_BLOCKS = `has no line for blocks without fills, so they look like gaps. Use ${BY_BLOCK}, which a node writes with --write-fills --batch-by-block`
/** Why files of these streams cannot be used. */
const UNSUPPORTED_STREAMS: Readonly<Record<string, string>> = {
  node_fills: WITHOUT_HEIGHTS,
  node_trades: WITHOUT_HEIGHTS,
  node_fills_streaming: WITHOUT_EMPTY_BLOCKS,
}

/** The form of a file by its path; null if unknown. */
export function formOf(path: string): FileForm | null {
  const archived = ARCHIVE_FILE.exec(path)
  if (archived)
    return { kind: 'archive', chain: archived[1] ?? null, first: Number(archived[2]), last: Number(archived[3]) }
  const [, folder, year, month, day, hour] = HOURLY_FILE.exec(path) ?? []
  if (year === undefined || Number(hour) > 23) return null
  const stream = folder !== undefined && STREAM.test(folder) ? folder : null
  return { kind: 'node', stream, fromMs: Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour)) }
}

const isOfStream = ({ form }: PlannedFile, name: string | null) => form.kind === 'node' && form.stream === name

/** The files with blocks in order, or why there are none. `chain` is the chain of the gateway. */
export function blockFiles(source: string, files: readonly SourceFile[], chain: string): Result<PlannedFile[], string> {
  const formed = files.flatMap((file): PlannedFile[] => {
    const form = formOf(file.path)
    return form ? [{ ...file, form }] : []
  })
  const sorted = formed.toSorted((a, b) => sortKey(a) - sortKey(b))
  const readers = OTHER_STREAMS.map((name) => [name, streamOf(sorted, STREAM_FOLDER[name])])
  const others = Object.fromEntries(readers) as OtherStreams
  const isFills = (file: PlannedFile) => isOfStream(file, BY_BLOCK) || isOfStream(file, null)
  const known = sorted.flatMap((file): PlannedFile[] =>
    file.form.kind === 'archive' ? [file] : isFills(file) ? [{ ...file, others }] : [],
  )
  if (known.length === 0) return err(noBlocksText(source, formed))
  if (new Set(known.map(({ form }) => form.kind)).size > 1)
    return err(`${source} holds both node files and an archive. Pass the folder of one of them.`)
  const other = known.find(({ form }) => form.kind === 'archive' && (form.chain ?? chain) !== chain)
  if (other)
    return err(`${other.path} belongs to a different chain from the gateway (${chain}). Pass a folder of that chain.`)
  return ok(known)
}

const streamOf = (files: readonly PlannedFile[], name: string) =>
  new StreamReader(
    files.flatMap(({ path, form, open }) =>
      form.kind === 'node' && form.stream === name ? [{ path, fromMs: form.fromMs, open }] : [],
    ),
  )

function noBlocksText(source: string, files: readonly PlannedFile[]): string {
  const streams = [...new Set(files.flatMap(({ form }) => (form.kind === 'node' && form.stream ? [form.stream] : [])))]
  const refused = streams.find((stream) => UNSUPPORTED_STREAMS[stream] !== undefined)
  if (refused !== undefined) return `${source} holds ${refused}, which ${UNSUPPORTED_STREAMS[refused]}.`
  const other = streams.length > 0 ? `no ${BY_BLOCK}, only ${streams.join(', ')}` : 'no blocks'
  return `${source} holds ${other}. Pass a folder with ${BY_BLOCK} of a node (hourly/YYYYMMDD/H, raw or .lz4), or with an archive (archive/CHAIN/YYYY-MM-DD/FIRST-LAST.events.gz).`
}

const sortKey = ({ form }: PlannedFile): number => (form.kind === 'node' ? form.fromMs : form.first)

/** Whether a file may hold a block that is needed and not archived. */
export function isNeeded(form: FileForm, window: Window, held: ArchivedRange): boolean {
  const { end } = held
  if (form.kind === 'archive') {
    const { from, to } = window
    if ('height' in from && form.last < from.height) return false
    if ('height' in to && form.first > to.height) return false
    return form.first < end.height && !held.hasAll(form.first, form.last)
  }
  const { fromMs, toMs } = timesOf(window)
  const first = Math.max(form.fromMs - FILE_LAG_MS, fromMs ?? 0)
  const last = Math.min(form.fromMs + HOUR_MS, toMs ?? Number.POSITIVE_INFINITY)
  return first <= last && form.fromMs - FILE_LAG_MS <= end.time && !held.hasTimes(first, last)
}

/** Whether a file ends before the window. A file ends where the next file starts. */
export function isBelow(next: BlockPosition | null, { from }: Window): boolean {
  return next !== null && 'height' in from && next.height <= from.height
}
