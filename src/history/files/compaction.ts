// One turn of the Compactor: a minute of the archive into a file, or one object of an hour or a day out of the files below.
// Laws: what a turn does follows from what is stored; its objects come before the rows that tell of them, and all rows of a
// turn come at once, so that a turn that ends anywhere is done again and writes the same under the same names; a row is in one
// live file, and in no other.

import type { HeightAndTime } from '../../feed/held-fills.ts'
import { ArchiveDamage } from '../archive/archive-damage.ts'
import type { ArchivedSegment, ArchiveReader } from '../archive/archive-read.ts'
import { type Payment, paymentsIn } from './funding-sums.ts'
import { dueGroup, type FileSpan, GROUP_MOST, type Level, type MergedLevel, sliceOf } from './levels.ts'
import { type MergePorts, mergeObject } from './merge.ts'
import type { Place, SourceFile } from './page-source.ts'
import { type Entry, PageWriter } from './page-writer.ts'
import type { EventsOfBlock } from './rows.ts'
import { sortedLines } from './sorted-lines.ts'
import type { Table, TableWriter } from './table.ts'

/** An object and what it has; none where there are no pages. */
export interface Made {
  readonly pages: readonly Uint8Array[]
  readonly bytes: number
  readonly entries: readonly Entry[]
}

/** The file of a minute. */
export interface Minute {
  readonly file: FileSpan
  readonly made: Made
  /** Null where it is not known of all blocks. */
  readonly payments: readonly Payment[] | null
  /** Heights that no file has lie before it, or are in it. */
  readonly missing: { readonly from: number; readonly to: number } | null
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

/** What there is, and what is written. */
export interface CompactionFiles {
  /** The last block that a file covers. */
  last(): Promise<HeightAndTime | null>
  putMinute(minute: Minute): Promise<void>
  /** The file of a level that is not whole. */
  open(level: MergedLevel): Promise<OpenFile | null>
  /** In order of height. */
  live(level: Level, limit: number): Promise<readonly FileSpan[]>
  source(level: Level, file: FileSpan): Promise<SourceFile>
  putPart(part: Part): Promise<void>
  /** Removes what was merged a while ago. */
  sweep(): Promise<void>
}

export interface CompactionPorts extends Pick<MergePorts, 'pack' | 'unpack'> {
  readonly archive: Pick<ArchiveReader, 'segmentsFrom' | 'lines'>
  readonly writer: CompactionFiles
  tables(): TableWriter
}

const NOTHING: Made = { pages: [], bytes: 0, entries: [] }

export class Compaction {
  readonly #ports: CompactionPorts
  readonly #objectBytes: number | undefined
  #isMergesTurn = false

  constructor(ports: CompactionPorts, objectBytes?: number) {
    this.#ports = ports
    this.#objectBytes = objectBytes
  }

  /** True where something was done, so that there may be more. Minutes and merges take turns: neither waits for the other. */
  async turn(): Promise<boolean> {
    this.#isMergesTurn = !this.#isMergesTurn
    const works = [() => this.#minute(), () => this.#merge()]
    if (this.#isMergesTurn) works.reverse()
    for (const work of works) if (await work()) return true
    await this.#ports.writer.sweep()
    return false
  }

  async #minute(): Promise<boolean> {
    const last = await this.#ports.writer.last()
    const [segment] = await this.#ports.archive.segmentsFrom({ height: last ? last.height + 1 : 0 }, 1)
    if (!segment) return false
    const from = Math.max(last ? last.height + 1 : 0, segment.first)
    const missing = last && from > last.height + 1 ? { from: last.height + 1, to: from - 1 } : null
    const lines = await this.#linesOf(segment)
    if (!lines) {
      const { last: to, firstMs, lastMs } = segment
      const file = { first: from, last: to, firstMs, lastMs }
      const lost = { from: missing?.from ?? from, to }
      await this.#ports.writer.putMinute({ file, made: NOTHING, payments: null, missing: lost })
      return true
    }
    const rest = lines.slice(from - segment.first)
    const blocks = rest.slice(0, sliceOf(rest)).map((line) => JSON.parse(line) as EventsOfBlock)
    const [first, end] = [blocks[0]!, blocks.at(-1)!]
    const writer = new PageWriter(this.#ports.pack)
    for (const [key, line] of sortedLines(blocks)) await writer.add(key, line)
    await writer.flush()
    const file = { first: first.height, last: end.height, firstMs: first.time, lastMs: end.time }
    await this.#ports.writer.putMinute({ file, made: writer, payments: paymentsIn(blocks), missing })
    return true
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
    return (await this.#mergeInto(1)) || this.#mergeInto(2)
  }

  async #mergeInto(level: MergedLevel): Promise<boolean> {
    const below = level === 1 ? 0 : 1
    const [open, files] = [await this.#ports.writer.open(level), await this.#ports.writer.live(below, GROUP_MOST + 1)]
    const group = open ? files.filter(({ last }) => last <= open.last) : dueGroup(level, files)
    if (!group) return false
    if (open && open.next.length !== group.length)
      throw new Error(`${group.length} of the ${open.next.length} files from ${open.first} to ${open.last} are there`)
    const [first, last] = [group[0]!, group.at(-1)!]
    const file = { first: first.first, last: last.last, firstMs: first.firstMs, lastMs: last.lastMs }
    const sources = await Promise.all(group.map((one) => this.#ports.writer.source(below, one)))
    const tables = this.#ports.tables()
    const { next, ...made } = await mergeObject(sources, open?.next ?? null, this.#ports, tables, this.#objectBytes)
    await this.#ports.writer.putPart({ level, file, number: open?.objects ?? 0, made, tables: tables.end(), next })
    return true
  }
}
