// One turn of the Compactor: a minute of the archive into a file, or one object of an hour, a day or a month out of the files
// below.
// Laws: what a turn does follows from what is stored; its objects come before the rows that tell of them, and all rows of a
// turn come at once, so that a turn that ends anywhere is done again and writes the same under the same names; a row is in one
// live file, and in no other; a file that is damaged holds up nothing but what is made of its heights.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { ArchiveDamage, type ArchivedSegment, type ArchiveReader, type Unfiled } from '../archive/archive-read.ts'
import type { Known } from '../archive/backfill-lines.ts'
import { BASES, spanOf, type TimeSpan } from '../candles.ts'
import { CandleRollup, candleCoinOf, candleLines, type KeptCandles } from './candle-lines.ts'
import { isPaidKnown, type Payment, paymentsIn } from './funding-sums.ts'
import {
  dueGroup,
  type FileSpan,
  isSameHour,
  type Level,
  type LiveFile,
  type MergedLevel,
  sliceOf,
  type Unsettled,
} from './levels.ts'
import type { PageHead } from './page.ts'
import { PageSource, type Place, type SourceFile } from './page-source.ts'
import { type Entry, type Pack, PageWriter } from './page-writer.ts'
import { ALL_FILLS, type EventsOfBlock, linesOf, PAID, paidLines } from './rows.ts'
import type { Table, TableWriter } from './table.ts'

/** An object and what it has; none where there are no pages. */
export interface Made {
  readonly pages: readonly Uint8Array[]
  readonly bytes: number
  readonly entries: readonly Entry[]
  /** Of the same rows, for the database. */
  readonly candles: readonly KeptCandles[]
}

/** A file of which some objects are written. */
export interface OpenFile extends FileSpan {
  readonly objects: number
  /** Where its sources go on. */
  readonly next: readonly Place[]
}

export interface Part {
  readonly level: MergedLevel
  readonly file: FileSpan
  /** The number of the object. */
  readonly number: number
  readonly made: Made
  /** Of the same rows. */
  readonly tables: readonly Table[]
  /** Null: it is the last, and the file stands from now on in the place of those it is made of. */
  readonly next: readonly Place[] | null
}

export interface Minute {
  readonly file: FileSpan
  readonly made: Made
  /** Of the same rows, while the hour is running. */
  readonly tables: readonly Table[]
  /** What the archive has of its blocks; null: it has lost them. */
  readonly known: Known | null
  /** Null where it is not known of all of them. */
  readonly payments: readonly Payment[] | null
  /** Of all of them is known what each wallet paid. */
  readonly isPaidKnown: boolean
  /** It is made for these. */
  readonly unfiled: Unfiled | null
}

/** What there is, and what is written. */
export interface CompactionFiles {
  /** The last block that a file covers. */
  last(): Promise<HeightAndTime | null>
  /** What is to come into files beside the newest blocks, the lowest. */
  unfiled(): Promise<Unfiled | null>
  /** Nothing of them is left to do below a height. */
  passed(unfiled: Unfiled, next: number): Promise<void>
  unsettled(): Promise<Unsettled>
  /** The last live file that begins at or below a height, and the first above. */
  around(height: number): Promise<{ readonly below: FileSpan | null; readonly above: FileSpan | null }>
  /** Times of a file's minutes whose trades it may lack; `nextMs`: of the block behind it, where that is known. */
  holes(file: FileSpan, nextMs: number | null): Promise<readonly TimeSpan[]>
  putMinute(minute: Minute): Promise<void>
  /** The file of a level that is not whole. */
  open(level: MergedLevel): Promise<OpenFile | null>
  /** From a height on, in order. */
  live(level: Level, from: number, limit: number): Promise<readonly LiveFile[]>
  source(level: Level, file: FileSpan): Promise<SourceFile>
  putPart(part: Part): Promise<void>
  /** Removes a file, and what is being made of it: its heights are unfiled. */
  drop(level: Level, file: FileSpan): Promise<void>
  /** Removes one that is not whole. */
  abandon(level: Level, file: FileSpan): Promise<void>
  /** Removes what was merged a while ago. */
  sweep(): Promise<void>
}

export interface CompactionPorts extends Pick<MergePorts, 'pack' | 'unpack'> {
  readonly archive: Pick<ArchiveReader, 'segmentsFrom' | 'lines'>
  readonly writer: CompactionFiles
  tables(holes: readonly TimeSpan[]): TableWriter
}

const NOTHING: Made = { pages: [], bytes: 0, entries: [], candles: [] }
const NO_TABLES: TableWriter = { tell: () => undefined, end: () => [] }
/** Files that are looked at for those that are due: before them some may wait for heights that are still to come. */
const FILES_MOST = 1_024
/** A month takes hours: what was merged meanwhile goes all the same. */
const SWEEP_TURNS = 64
const SEGMENTS_AT_ONCE = 1_000
/** An hour has so many or fewer, unless something cuts them short. */
const HOUR_SEGMENTS = 61

interface Heights {
  readonly from: number
  readonly to: number
}

interface Blocks {
  readonly blocks: readonly EventsOfBlock[]
  readonly nextMs: number | null
}

const blockOf = (line: string) => JSON.parse(line) as EventsOfBlock

export class Compaction {
  readonly #ports: CompactionPorts
  readonly #objectBytes: number | undefined
  #turns = 0
  /** First heights of days that are damaged and not to be made again: what is good of them is read, and in no month. */
  readonly #spoiled = new Set<number>()

  constructor(ports: CompactionPorts, objectBytes?: number) {
    this.#ports = ports
    this.#objectBytes = objectBytes
  }

  /** True where something was done, so that there may be more. Each kind of work has its turn: none waits for another. */
  async turn(): Promise<boolean> {
    const works = [() => this.#merge(), () => this.#minute(), () => this.#refile()]
    const first = this.#turns++ % works.length
    if (this.#turns % SWEEP_TURNS === 0) await this.#ports.writer.sweep()
    for (const work of [...works.slice(first), ...works.slice(0, first)]) if (await work()) return true
    await this.#ports.writer.sweep()
    return false
  }

  async #minute(): Promise<boolean> {
    const last = await this.#ports.writer.last()
    const from = last ? last.height + 1 : 0
    const segments = await this.#ports.archive.segmentsFrom({ height: from }, HOUR_SEGMENTS)
    const segment = segments[0]
    const newest = segments.at(-1)
    if (!segment || !newest) return false
    // Of an hour that is over tables are made as it is merged.
    const isRunning = isSameHour(segment, newest)
    await this.#makeMinute(segment, { from: Math.max(from, segment.first), to: segment.last }, null, isRunning)
    return true
  }

  /** Of heights that files lack and that the archive has, a minute. */
  async #refile(): Promise<boolean> {
    const { writer, archive } = this.#ports
    const unfiled = await writer.unfiled()
    if (!unfiled) return false
    const { below, above } = await writer.around(unfiled.next)
    const from = Math.max(unfiled.next, (below?.last ?? -1) + 1)
    const to = Math.min(unfiled.to, (above?.first ?? Number.POSITIVE_INFINITY) - 1)
    const [segment] = from > to ? [] : await archive.segmentsFrom({ height: from }, 1)
    if (!segment || segment.first > to) await writer.passed(unfiled, Math.max(from, to + 1))
    else
      await this.#makeMinute(segment, { from: Math.max(from, segment.first), to: Math.min(to, segment.last) }, unfiled)
    return true
  }

  /** A file of heights of a segment, as many as one may have. */
  async #makeMinute(
    segment: ArchivedSegment,
    { from, to }: Heights,
    unfiled: Unfiled | null,
    isRunning = false,
  ): Promise<void> {
    const found = await this.#blocksOf(segment, { from, to })
    if (!found) {
      const { firstMs, lastMs } = segment
      const file = { first: from, last: to, firstMs, lastMs }
      const unknown = { known: null, payments: null, isPaidKnown: false }
      return this.#ports.writer.putMinute({ file, made: NOTHING, tables: [], ...unknown, unfiled })
    }
    const { blocks, nextMs } = found
    const [first] = blocks
    const end = blocks.at(-1)
    if (!first || !end) throw new Error(`the archive has no line of block ${from}`)
    const file = { first: first.height, last: end.height, firstMs: first.time, lastMs: end.time }
    const tables = isRunning ? this.#ports.tables(await this.#ports.writer.holes(file, nextMs)) : NO_TABLES
    const writer = new PageWriter(this.#ports.pack)
    const candles = new CandleRollup(0)
    for (const [key, line] of sortedLines(blocks)) {
      await writer.add(key, line)
      candles.tell(key, [line])
      tables.tell(key, [line])
    }
    await writer.flush()
    const { pages, bytes, entries } = writer
    const made = { pages, bytes, entries, candles: candles.end() }
    const payments = paymentsIn(blocks)
    const known = { known: first.only ?? 'events', isPaidKnown: isPaidKnown(blocks) } as const
    await this.#ports.writer.putMinute({ file, made, tables: tables.end(), ...known, payments, unfiled })
  }

  /** As many as a file may have, and when the block behind them was; null where the archive has lost them. */
  async #blocksOf(segment: ArchivedSegment, { from, to }: Heights): Promise<Blocks | null> {
    const lines = (await this.#linesOf(segment))?.slice(from - segment.first)
    if (!lines) return null
    const end = sliceOf(lines.slice(0, to - from + 1))
    const [next] = lines.slice(end, end + 1).map(blockOf)
    return { blocks: lines.slice(0, end).map(blockOf), nextMs: next?.time ?? segment.nextMs ?? null }
  }

  /** Null where the archive has lost them. */
  async #linesOf(segment: ArchivedSegment): Promise<readonly string[] | null> {
    try {
      const lines: string[] = []
      for await (const line of this.#ports.archive.lines(segment, 'events')) lines.push(line)
      return lines
    } catch (error) {
      if (error instanceof ArchiveDamage) return null
      throw error
    }
  }

  async #merge(): Promise<boolean> {
    return (await this.#mergeInto(1)) || (await this.#mergeInto(2)) || this.#mergeInto(3)
  }

  async #mergeInto(level: MergedLevel): Promise<boolean> {
    const { writer } = this.#ports
    const below = (level - 1) as Level
    const open = await writer.open(level)
    const live = await writer.live(below, open?.first ?? 0, FILES_MOST)
    const files = live.filter(({ first }) => below !== 2 || !this.#spoiled.has(first))
    const group = open
      ? files.filter(({ last }) => last <= open.last)
      : dueGroup(level, files, await writer.unsettled())
    const first = group?.[0]
    const last = group?.at(-1)
    if (!group || !first || !last) return false
    if (open && open.next.length !== group.length) {
      await writer.abandon(level, open)
      return true
    }
    const file = { first: first.first, last: last.last, firstMs: first.firstMs, lastMs: last.lastMs }
    const sources = await Promise.all(group.map((one) => writer.source(below, one)))
    // Of a month those of its days stand.
    const tables = level === 3 ? NO_TABLES : this.#ports.tables(await writer.holes(file, null))
    const candles = new CandleRollup(level)
    const tell = (key: string, lines: readonly string[]) => {
      tables.tell(key, lines)
      candles.tell(key, lines)
    }
    const merging = mergeObject(sources, open?.next ?? null, this.#ports, { tell }, this.#objectBytes)
    const { next, ...pages } = await merging.catch(async (error: unknown) => {
      if (!(error instanceof ArchiveDamage)) throw error
      const at = sources.findIndex(({ objects }) => objects.some(({ key }) => key === error.key))
      const damaged = group[at] ?? first
      if (below === 2 && !(await this.#isArchived(damaged))) {
        this.#spoiled.add(damaged.first)
        throw new Error(`${error.message}: the archive has not all of its day, which stays as it is, and in no month`)
      }
      await writer.drop(below, damaged)
      throw new Error(`${error.message}: its blocks are taken out of the archive again, as far as that has them`)
    })
    const made = { ...pages, candles: candles.end() }
    await writer.putPart({ level, file, number: open?.objects ?? 0, made, tables: tables.end(), next })
    return true
  }

  /** Whether the archive has the events of all heights of a file: what it keeps no more is its oldest. */
  async #isArchived({ first, last }: FileSpan): Promise<boolean> {
    for (let next = first; next <= last; ) {
      const segments = await this.#ports.archive.segmentsFrom({ height: next }, SEGMENTS_AT_ONCE)
      if (next === first && (!segments[0] || !(await this.#linesOf(segments[0])))) return false
      for (const segment of segments) {
        if (segment.first > next && next <= last) return false
        next = segment.last + 1
      }
      if (segments.length === 0) return false
    }
    return true
  }
}

export function* sortedLines(blocks: readonly EventsOfBlock[]): Generator<readonly [key: string, line: string]> {
  const byKey = candleLines(blocks)
  for (const block of blocks)
    for (const [key, line] of linesOf(block)) {
      const lines = byKey.get(key)
      if (lines) lines.push(line)
      else byKey.set(key, [line])
    }
  const keys = [...byKey.keys()].sort()
  const behind = keys.findIndex((key) => key > PAID)
  const before = behind < 0 ? keys : keys.slice(0, behind)
  for (const key of before) for (const line of byKey.get(key) ?? []) yield [key, line]
  yield* paidLines(blocks)
  for (const key of keys.slice(before.length)) for (const line of byKey.get(key) ?? []) yield [key, line]
}

// One object out of files that follow one another, and where to go on. Invariants: each page is read once; of a key what came first
// stays first; an object ends where a page that was read does, so that whoever goes on from there, however often, writes the
// same objects; a coin's lines of one minute are in one object.

/** An object ends with the page with which so many bytes were read for it: it is in memory while it is made. */
const OBJECT_BYTES = 8 * 1024 * 1024
/** Of all files together, read ahead. */
const AHEAD_BYTES = 16 * 1024 * 1024
const STRETCH_MOST = 1024 * 1024

export interface MergePorts {
  readonly pack: Pack
  unpack(body: Uint8Array<ArrayBuffer>): Promise<string>
}

export interface Merged {
  readonly pages: readonly Uint8Array[]
  readonly bytes: number
  readonly entries: readonly Entry[]
  /** Of each file; null: all is merged. */
  readonly next: readonly Place[] | null
}

/** `from`: where each file goes on; null: from its beginning. What is read is told to `tables`, and goes into pages but for ALL_FILLS. */
export async function mergeObject(
  files: readonly SourceFile[],
  from: readonly Place[] | null,
  { pack, unpack }: MergePorts,
  tables: Pick<TableWriter, 'tell'>,
  objectBytes = OBJECT_BYTES,
): Promise<Merged> {
  const stretch = Math.min(STRETCH_MOST, Math.floor(AHEAD_BYTES / Math.max(1, files.length)))
  const sources = files.map((file, at) => new PageSource(file, from?.[at] ?? { object: 0, offset: 0 }, stretch))
  const keys: (string | null)[] = []
  for (const source of sources) keys.push((await source.peek())?.key ?? null)
  const writer = new PageWriter(pack)
  let bytesRead = 0
  let last: PageHead | null = null
  for (;;) {
    const at = leastOf(keys)
    const source = sources[at]
    const page = await source?.peek()
    if (!source || !page) break
    if (bytesRead >= objectBytes && !isSameMinute(last, page)) break
    last = page
    const lines = (await source.sound(() => unpack(page.body))).split('\n')
    if (page.key !== ALL_FILLS) for (const line of lines) await writer.add(page.key, line)
    tables.tell(page.key, lines)
    bytesRead += page.bytes
    source.take()
    keys[at] = (await source.peek())?.key ?? null
  }
  await writer.flush()
  const isEnd = leastOf(keys) < 0
  const { pages, bytes, entries } = writer
  return { pages, bytes, entries, next: isEnd ? null : sources.map(({ place }) => place) }
}

/** Whether a candle of the one page goes on in the next. */
function isSameMinute(page: PageHead | null, next: PageHead): boolean {
  if (page?.key !== next.key || candleCoinOf(page.key) === null) return false
  return spanOf(BASES[0], next.minMs).t <= spanOf(BASES[0], page.maxMs).t
}

/** Of files with the least key the first; -1 where all are at their end. */
function leastOf(keys: readonly (string | null)[]): number {
  let least: string | null = null
  for (const key of keys) if (key !== null && (least === null || key < least)) least = key
  return least === null ? -1 : keys.indexOf(least)
}
