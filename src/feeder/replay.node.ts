// Replays a folder of recorded node data: an order-level snapshot and the blocks after it, as the feed sends them. The
// folder contains `l4Snapshot*.json[.gz]` and either flat files `*raw_book_diffs_by_block*.jsonl` (with optional files
// of fills and misc events) or the node's hourly folders.

import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { Block } from '../protocol/feed/block.ts'
import type { SnapshotFrame } from '../protocol/feed/protocol.ts'
import { convertEvents } from './convert.ts'
import { NodeFiles } from './node-files.node.ts'
import { OrderBooks } from './order-books.ts'
import { readRawDiff } from './raw-diff.ts'
import { readCoin, SnapshotScanner } from './snapshot-file.ts'
import { nodeTimeMs, readEvents, readLineHead, STREAM_FOLDER, type StreamLine, type StreamName } from './streams.ts'

/** A raw diff that contradicts the snapshot ends the replay, because the recording is then useless. */
interface Replay {
  /** The books of the snapshot as a frame of the feed. */
  readonly seed: SnapshotFrame
  /** The books after the last block yielded. */
  readonly books: OrderBooks
  /** The blocks after the snapshot, in order, once. Throws on a gap or a diff that does not fit. */
  blocks(): AsyncGenerator<Block>
}

type Lines = Partial<Record<StreamName, string>> & { readonly diffs: string }
type RecordedBlock = { readonly head: StreamLine; readonly lines: Lines }

/** Opens a recorded folder. Throws with a message if the folder has no recording. */
export async function openReplay(folder: string): Promise<Replay> {
  const names = await readdir(folder)
  const snapshot = names.filter((name) => /^l4Snapshot.*\.json(?:\.gz)?$/.test(name)).sort()[0]
  if (!snapshot) throw new Error(`${folder} contains no l4Snapshot*.json or .json.gz`)
  const books = new OrderBooks()
  const inFile = await readBooks(join(folder, snapshot), books)
  const records = await recordsOf(folder, names)
  const first = (await records(0).next()).value as RecordedBlock | undefined
  const inName = /\.(\d+)\.json/.exec(snapshot)?.[1]
  const height = inFile ?? (inName ? Number(inName) : first ? first.head.height - 1 : 0)
  const whole = books.coins().map((coin) => ({ coin, levels: books.levels(coin) }))
  const time = first ? Math.max(0, nodeTimeMs(first.head.time) - 1) : 0
  const seed: SnapshotFrame = { type: 'snapshot', scope: 'all', height, time, books: whole }
  return { seed, books, blocks: () => replayBlocks(books, height, records(height + 1)) }
}

async function* replayBlocks(
  books: OrderBooks,
  height: number,
  records: AsyncGenerator<RecordedBlock>,
): AsyncGenerator<Block> {
  let last = height
  for await (const { head, lines } of records) {
    if (head.height <= last) continue
    if (head.height !== last + 1) throw new Error(`the recording has a gap: block ${head.height} follows block ${last}`)
    last = head.height
    for (const event of eventsOf(lines.diffs, last)) {
      const diff = readRawDiff(event)
      if (!diff) throw new Error(`block ${last} has an unreadable diff: ${JSON.stringify(event)}`)
      books.apply(diff)
    }
    const changes = books.endBlock()
    if (books.misfits > 0) throw new Error(`block ${last} does not fit the snapshot: ${[...books.suspects].join(', ')}`)
    const time = nodeTimeMs(head.time)
    const events = convertEvents(
      {
        fills: lines.fills ? eventsOf(lines.fills, last) : [],
        misc: lines.misc ? eventsOf(lines.misc, last) : null,
        twaps: null,
        statuses: null,
      },
      time,
      (reason) => {
        throw new Error(`block ${last}: ${reason}`)
      },
    )
    yield { height: last, time, ...events, books: changes }
  }
}

function eventsOf(line: string, height: number): unknown[] {
  const events = readEvents(line)
  if (!events.ok) throw new Error(`a line of block ${height} ${events.error}`)
  return events.value
}

async function readBooks(path: string, books: OrderBooks): Promise<number | null> {
  const scanner = new SnapshotScanner()
  const file = createReadStream(path)
  const stream = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  stream.setEncoding('utf8')
  for await (const chunk of stream)
    for (const text of scanner.push(chunk as string)) books.load({ ...readCoin(text), known: true })
  if (!scanner.isComplete) throw new Error(`${path} is incomplete`)
  return scanner.height
}

/** Returns a source of recorded blocks in either layout, starting at a height. */
async function recordsOf(
  folder: string,
  names: readonly string[],
): Promise<(from: number) => AsyncGenerator<RecordedBlock>> {
  const flat = (stream: StreamName) =>
    names
      .filter((name) => name.includes(STREAM_FOLDER[stream].replace(/^node_/, '')) && name.endsWith('.jsonl'))
      .sort()
      .map((name) => join(folder, name))
  if (flat('diffs').length > 0) return () => flatRecords(flat('diffs'), { fills: flat('fills'), misc: flat('misc') })
  if (await isFolder(join(folder, STREAM_FOLDER.diffs))) return (from) => hourlyRecords(folder, from)
  throw new Error(`${folder} contains neither *raw_book_diffs_by_block*.jsonl nor the folder ${STREAM_FOLDER.diffs}`)
}

async function* flatRecords(
  diffs: readonly string[],
  others: Readonly<Record<'fills' | 'misc', readonly string[]>>,
): AsyncGenerator<RecordedBlock> {
  const beside = { fills: new Map<number, string>(), misc: new Map<number, string>() }
  for (const stream of ['fills', 'misc'] as const)
    for (const path of others[stream])
      for await (const { height, text } of linesOf(path)) beside[stream].set(height, text)
  for (const path of diffs)
    for await (const head of linesOf(path)) {
      const lines: Lines = { diffs: head.text }
      for (const stream of ['fills', 'misc'] as const) {
        const text = beside[stream].get(head.height)
        if (text !== undefined) lines[stream] = text
      }
      yield { head, lines }
    }
}

/** Number of rounds without new lines after which a recording counts as read to its end. */
const QUIET_ROUNDS = 5

async function* hourlyRecords(folder: string, from: number): AsyncGenerator<RecordedBlock> {
  const files = new NodeFiles(folder)
  const first = (await files.range())?.first ?? from
  const reader = files.open(files.presentStreams(false), Math.max(from, first), null, (message) => {
    throw new Error(message)
  })
  try {
    // The tail waits because files may grow. A recording does not grow, so this clock runs fast.
    for (let quiet = 0, clock = 0; quiet < QUIET_ROUNDS; clock += 1_000) {
      quiet = (await reader.pump(clock)) || reader.isShortening ? 0 : quiet + 1
      await nextTurn()
      for (let paired = reader.take(); paired; paired = reader.take()) {
        const { kind, height, time, lines } =
          paired.kind === 'block' ? paired : { ...paired, height: paired.from, lines: null }
        const diffs = lines?.get('diffs')
        if (kind === 'gap' || !lines || diffs === undefined)
          throw new Error(`height ${height} is a gap in the recording`)
        yield { head: { height, time, text: diffs }, lines: { ...Object.fromEntries(lines), diffs } }
      }
    }
  } finally {
    await reader.close()
  }
}

async function* linesOf(path: string): AsyncGenerator<StreamLine> {
  let half = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (half + chunk).split('\n')
    half = lines.pop() ?? ''
    for (const text of lines) {
      const line = readLineHead(text)
      if (line) yield line
    }
  }
  const last = readLineHead(half)
  if (last) yield last
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false
}
