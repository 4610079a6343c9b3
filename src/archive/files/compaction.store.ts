// One turn of the Compactor: writes a file for one minute of the archive, merges lower files into one object of an hour,
// day or month, or writes positions after a day. Invariants: a turn depends only on stored state; objects are written
// before their rows, and all rows of a turn are written together, so that an interrupted turn writes the same names and
// bytes again; a row is in exactly one live file; a damaged file blocks only files that are built from its heights.

import { inTurns, takeTurn } from '../../core/timers.client.ts'
import { ArchiveDamage, type ArchivedSegment, type ArchiveReader, type UnfiledRange } from '../archive/archive-read.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import { cutoffMs } from '../archive/retention.ts'
import { advanceRow, lowestUnfiled, unsettledHeights } from '../archive/unfiled.store.ts'
import { CandleRollup } from './candle-lines.ts'
import { filesAround, holesOf } from './file-gaps.store.ts'
import { abandonFile, dropFile, sweepFiles, sweepFillTables } from './files-sweep.store.ts'
import { FilesWriter, type ObjectContent } from './files-writer.store.ts'
import { isPaidKnown, paymentsIn } from './funding-sums.ts'
import { dueGroup, type FileSpan, isSameHour, type Level, type MergedLevel, sliceLength } from './levels.ts'
import { linesByKey, mergeObject, sortedLines } from './merge.ts'
import { packPage, unpackPage } from './page-text.client.ts'
import { PageWriter } from './page-writer.ts'
import { hasAllPositions, type PositionPorts, writePositions } from './position-days.store.ts'
import type { BlockEvents } from './rows.ts'
import { ParquetTables } from './tables.client.ts'

const EMPTY_OBJECT: ObjectContent = { pages: [], bytes: 0, entries: [], candles: [] }
/** Maximum files searched for a group that can be merged. Groups with missing heights are skipped. */
const MAX_FILES = 1_024
/**
 * Number of turns between sweeps while there is other work. Merging a month takes hours, and sweeps must not wait for
 * it.
 */
const SWEEP_TURNS = 64
const SEGMENTS_PER_READ = 1_000
/** Number of one-minute segments that are read ahead, to see whether the next hour has started. */
const HOUR_SEGMENTS = 61

interface HeightRange {
  readonly from: number
  readonly to: number
}

interface BlockSlice {
  readonly blocks: readonly BlockEvents[]
  readonly nextMs: number | null
}

const blockOf = (line: string) => JSON.parse(line) as BlockEvents

function* blocksIn(lines: readonly string[]): Generator<number, BlockEvents[]> {
  const blocks: BlockEvents[] = []
  for (const line of lines) {
    blocks.push(blockOf(line))
    yield line.length
  }
  return blocks
}

interface CompactionOptions {
  readonly now: () => number
  /** Whether files are removed when the archive removes their heights. */
  readonly isBounded: boolean
  /** Age in days at which Parquet files of fills are removed; null: never. */
  readonly fillTableDays: number | null
  readonly objectBytes?: number | undefined
  /** Rows after which a part of positions ends. */
  readonly partRows?: number | undefined
}

export class Compaction {
  readonly #archive: Pick<ArchiveReader, 'segmentsFrom' | 'lines'>
  readonly #storage: ArchiveStorage
  readonly #options: CompactionOptions
  readonly #writer: FilesWriter
  #turns = 0
  /** First heights of damaged days that cannot be rebuilt. These days stay readable but are not merged into months. */
  readonly #damagedDays = new Set<number>()

  constructor(
    archive: Pick<ArchiveReader, 'segmentsFrom' | 'lines'>,
    storage: ArchiveStorage,
    options: CompactionOptions,
  ) {
    this.#archive = archive
    this.#storage = storage
    this.#options = options
    this.#writer = new FilesWriter(storage, options.now)
  }

  /**
   * Performs one unit of work. Returns true if it did, because more may follow. The kinds of work take turns, so that
   * none starves. Positions wait for all others.
   */
  async turn(): Promise<boolean> {
    const works = [() => this.#merge(), () => this.#fileNextMinute(), () => this.#refile()]
    const first = this.#turns++ % works.length
    if (this.#turns % SWEEP_TURNS === 0) await this.#sweep()
    for (const work of [...works.slice(first), ...works.slice(0, first)]) if (await work()) return true
    if (await this.#positions()) return true
    await this.#sweep()
    return false
  }

  async #sweep(): Promise<void> {
    const nowMs = this.#options.now()
    const { isBounded, fillTableDays } = this.#options
    await sweepFiles(this.#storage, nowMs, isBounded)
    const newestMs = (await this.#writer.last())?.time
    const beforeMs = newestMs === undefined ? null : cutoffMs(fillTableDays, nowMs, newestMs)
    if (beforeMs !== null) await sweepFillTables(this.#storage, beforeMs)
  }

  async #fileNextMinute(): Promise<boolean> {
    const last = await this.#writer.last()
    const from = last ? last.height + 1 : 0
    const segments = await this.#archive.segmentsFrom({ height: from }, HOUR_SEGMENTS)
    const segment = segments[0]
    const newest = segments.at(-1)
    if (!segment || !newest) return false
    // The tables of an hour that has ended are written when the hour is merged.
    const isRunning = isSameHour(segment, newest)
    await this.#writeMinute(segment, { from: Math.max(from, segment.first), to: segment.last }, null, isRunning)
    return true
  }

  /** Writes a file for one minute of heights that are in the archive but in no file. */
  async #refile(): Promise<boolean> {
    const unfiled = await lowestUnfiled(this.#storage)
    if (!unfiled) return false
    const { below, above } = await filesAround(this.#storage, unfiled.next)
    // These heights are written in order, together with those below them.
    if (above === null) return false
    const from = Math.max(unfiled.next, (below?.last ?? -1) + 1)
    const to = Math.min(unfiled.to, above.first - 1)
    const [segment] = from > to ? [] : await this.#archive.segmentsFrom({ height: from }, 1)
    if (!segment || segment.first > to) await advanceRow(this.#storage, unfiled, Math.max(from, to + 1)).run()
    else
      await this.#writeMinute(segment, { from: Math.max(from, segment.first), to: Math.min(to, segment.last) }, unfiled)
    return true
  }

  /** Writes a file with heights of a segment, up to the size limit of a file. */
  async #writeMinute(
    segment: ArchivedSegment,
    { from, to }: HeightRange,
    unfiled: UnfiledRange | null,
    isRunning = false,
  ): Promise<void> {
    const found = await this.#blocksOf(segment, { from, to })
    if (!found) {
      const { firstMs, lastMs } = segment
      const file = { first: from, last: to, firstMs, lastMs }
      const unknown = { known: null, payments: null, isPaidKnown: false }
      return this.#writer.putMinute({ file, content: EMPTY_OBJECT, tables: [], ...unknown, unfiled })
    }
    const { blocks, nextMs } = found
    const [first] = blocks
    const end = blocks.at(-1)
    if (!first || !end) throw new Error(`the archive has no line for block ${from}`)
    const file = { first: first.height, last: end.height, firstMs: first.time, lastMs: end.time }
    const tables = isRunning ? new ParquetTables(await holesOf(this.#storage, file, nextMs)) : null
    const writer = new PageWriter(packPage)
    const candles = new CandleRollup(0)
    for (const [key, line] of sortedLines(blocks, await inTurns(linesByKey(blocks)))) {
      await writer.add(key, line)
      candles.add(key, [line])
      tables?.add(key, [line])
    }
    await writer.flush()
    const { pages, bytes, entries } = writer
    const made = { pages, bytes, entries, candles: candles.finish() }
    const payments = paymentsIn(blocks)
    const known = { known: first.only ?? 'events', isPaidKnown: isPaidKnown(blocks) } as const
    await this.#writer.putMinute({
      file,
      content: made,
      tables: (await tables?.finish()) ?? [],
      ...known,
      payments,
      unfiled,
    })
  }

  /** The blocks for one file, and the time of the next block. Null if the archive no longer has them. */
  async #blocksOf(segment: ArchivedSegment, { from, to }: HeightRange): Promise<BlockSlice | null> {
    const lines = (await this.#linesOf(segment))?.slice(from - segment.first)
    if (!lines) return null
    const end = sliceLength(lines.slice(0, to - from + 1))
    const [next] = lines.slice(end, end + 1).map(blockOf)
    const blocks = await inTurns(blocksIn(lines.slice(0, end)))
    return { blocks, nextMs: next?.time ?? segment.nextMs ?? null }
  }

  /** The lines of a segment. Null if the archive no longer has them. */
  async #linesOf(segment: ArchivedSegment): Promise<readonly string[] | null> {
    try {
      const lines: string[] = []
      for await (const line of this.#archive.lines(segment, 'events')) lines.push(line)
      return lines
    } catch (error) {
      if (error instanceof ArchiveDamage) return null
      throw error
    }
  }

  async #merge(): Promise<boolean> {
    if ((await this.#mergeInto(1)) || (await this.#mergeInto(2))) return true
    // The positions after a day are written while its file exists.
    return (await hasAllPositions(this.#storage)) && this.#mergeInto(3)
  }

  #positions(): Promise<boolean> {
    const { partRows } = this.#options
    const putTable: PositionPorts['putTable'] = (...of) => this.#writer.putDayTable(...of)
    return writePositions(this.#storage, { putTable, ...(partRows && { partRows }) })
  }

  async #mergeInto(level: MergedLevel): Promise<boolean> {
    const writer = this.#writer
    const below = (level - 1) as Level
    const open = await writer.open(level)
    const live = await writer.live(below, open?.first ?? 0, MAX_FILES)
    const files = live.filter(({ first }) => below !== 2 || !this.#damagedDays.has(first))
    const group = open
      ? files.filter(({ last }) => last <= open.last)
      : dueGroup(level, files, await unsettledHeights(this.#storage, this.#options.now()))
    const first = group?.[0]
    const last = group?.at(-1)
    if (!group || !first || !last) return false
    if (open && open.next.length !== group.length) {
      await abandonFile(this.#storage, level, open)
      return true
    }
    const file = { first: first.first, last: last.last, firstMs: first.firstMs, lastMs: last.lastMs }
    const sources = await Promise.all(group.map((one) => writer.source(below, one)))
    // Months reuse the tables of their days.
    const tables = level === 3 ? null : new ParquetTables(await holesOf(this.#storage, file, null))
    const candles = new CandleRollup(level)
    const add = (key: string, lines: readonly string[]) => {
      tables?.add(key, lines)
      candles.add(key, lines)
    }
    const unpack = async (body: Uint8Array<ArrayBuffer>) => {
      const text = await unpackPage(body)
      // Rows of tables are made of it next, which takes as long as packing.
      await takeTurn(text.length)
      return text
    }
    const packing = { pack: packPage, unpack }
    const merging = mergeObject(sources, open?.next ?? null, packing, { add }, this.#options.objectBytes)
    const { next, ...pages } = await merging.catch(async (error: unknown) => {
      if (!(error instanceof ArchiveDamage)) throw error
      const at = sources.findIndex(({ objects }) => objects.some(({ key }) => key === error.key))
      const damaged = group[at] ?? first
      if (below === 2 && !(await this.#isArchived(damaged))) {
        this.#damagedDays.add(damaged.first)
        throw new Error(
          `${error.message}. The archive no longer has all blocks of this day. The damaged file is kept and not merged`,
        )
      }
      await dropFile(this.#storage, below, damaged, this.#options.now())
      throw new Error(`${error.message}. The file is rebuilt from the blocks that the archive still has`)
    })
    const made = { ...pages, candles: candles.finish() }
    await writer.putPart({
      level,
      file,
      number: open?.objects ?? 0,
      content: made,
      tables: (await tables?.finish()) ?? [],
      next,
    })
    return true
  }

  /** Whether the archive still has the events of every height of a file. */
  async #isArchived({ first, last }: FileSpan): Promise<boolean> {
    for (let next = first; next <= last; ) {
      const segments = await this.#archive.segmentsFrom({ height: next }, SEGMENTS_PER_READ)
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
