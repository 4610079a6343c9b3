// Levels of files: minute, hour, day and month. A file of one level is built from files of the level below. Invariants:
// a file covers all heights from first to last, so that files for missing heights can be added between files later;
// merging depends only on heights and times; a file is merged once its period has ended.

import { hash32 } from '../../core/hash.ts'
import { HOUR_MS } from '../../core/time.ts'

export const LEVELS = ['minute', 'hour', 'day', 'month'] as const
export type Level = 0 | 1 | 2 | 3
export type MergedLevel = Exclude<Level, 0>
/** Levels whose index groups keys into buckets. */
export type BucketLevel = 0 | 1

/** The period that a merged file of each level covers. */
const PERIOD_OF: Readonly<Record<MergedLevel, (ms: number) => number>> = {
  1: (ms) => Math.floor(ms / HOUR_MS),
  2: (ms) => Math.floor(ms / (24 * HOUR_MS)),
  3: (ms) => 12 * new Date(ms).getUTCFullYear() + new Date(ms).getUTCMonth(),
}
/** Whether two files or segments start in the same hour. */
export function isSameHour(a: { readonly firstMs: number }, b: { readonly firstMs: number }): boolean {
  return PERIOD_OF[1](a.firstMs) === PERIOD_OF[1](b.firstMs)
}

/** Maximum files per merge. Many gaps can make a group longer than this. */
export const MAX_GROUP = 128
/** Buckets per index. A row per key would be a million rows a day. */
const BUCKETS: Readonly<Record<BucketLevel, number>> = { 0: 128, 1: 1_024 }
/** Maximum length of a file, in characters. Files are built in memory. */
const SLICE_CHARS = 4 * 1024 * 1024

export interface FileSpan {
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
}

export interface LiveFile extends FileSpan {
  /** Whether another file of the same level or a higher one starts at the next height. */
  readonly isFollowed: boolean
}

/** Heights at which more files may appear. */
export interface UnsettledHeights {
  /** More files may appear below this height. */
  readonly below: number
  /** Ranges that still have to be written to files. */
  readonly pending: readonly { readonly from: number; readonly to: number }[]
}

/**
 * The first group of consecutive files, in height order, that can be merged into a file of `level`. Null if every group
 * may still grow.
 */
export function dueGroup(
  level: MergedLevel,
  files: readonly LiveFile[],
  { below, pending }: UnsettledHeights = { below: 0, pending: [] },
): readonly LiveFile[] | null {
  const periodOf = ({ firstMs }: FileSpan) => PERIOD_OF[level](firstMs)
  for (let at = 0, first = files[0]; first; first = files[at]) {
    const period = periodOf(first)
    const isOther = (file: FileSpan, index: number) =>
      index > at && (periodOf(file) > period || file.first - 1 !== files[index - 1]?.last)
    const found = files.findIndex(isOther)
    const end = found < 0 ? files.length : found
    const { first: begin } = first
    const isEnd = files[end - 1]?.isFollowed || (found > 0 && begin >= below)
    const isBegin = !pending.some(({ from, to }) => from < begin && begin <= to + 1)
    if ((isBegin && isEnd) || end - at >= MAX_GROUP) return files.slice(at, Math.min(end, at + MAX_GROUP))
    at = end
  }
  return null
}

/** Tables of the levels whose index has one row per key. */
export const KEY_TABLES: Readonly<Record<Exclude<Level, BucketLevel>, string>> = {
  2: 'file_keys',
  3: 'file_month_keys',
}

export const isBucketLevel = (level: Level): level is BucketLevel => level < 2

export function bucketOf(level: BucketLevel, key: string): number {
  return hash32(key) % BUCKETS[level]
}

export function bucketsOf(level: BucketLevel): number[] {
  return [...Array(BUCKETS[level]).keys()]
}

/** Number of lines to put into the next file. */
export function sliceLength(lines: readonly string[], max = SLICE_CHARS): number {
  let chars = 0
  const end = lines.findIndex((line) => {
    chars += line.length
    return chars > max
  })
  return end < 0 ? lines.length : Math.max(1, end)
}
