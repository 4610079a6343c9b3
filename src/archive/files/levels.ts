// Which files there are: of about a minute, an hour, a day, a month, made of those below. Laws: a file has all heights from its
// first to its last, so that those that are missing may come between files later; what is merged with what depends on the files'
// heights and times alone, and a file is merged once what follows its hour, its day or its month has come.

import { hash32 } from '../../core/hash.ts'
import { HOUR_MS } from '../../core/time.ts'

export const LEVELS = ['minute', 'hour', 'day', 'month'] as const
export type Level = 0 | 1 | 2 | 3
export type MergedLevel = Exclude<Level, 0>
/** Whose index has a row for so many keys' share. */
export type BucketLevel = 0 | 1

/** What files are merged into, by the level of the new one. */
const PERIOD_OF: Readonly<Record<MergedLevel, (ms: number) => number>> = {
  1: (ms) => Math.floor(ms / HOUR_MS),
  2: (ms) => Math.floor(ms / (24 * HOUR_MS)),
  3: (ms) => 12 * new Date(ms).getUTCFullYear() + new Date(ms).getUTCMonth(),
}
/** Whether two files, or segments, begin in one hour. */
export function isSameHour(a: { readonly firstMs: number }, b: { readonly firstMs: number }): boolean {
  return PERIOD_OF[1](a.firstMs) === PERIOD_OF[1](b.firstMs)
}

/** Files that are merged at once, such as where gaps made many. */
export const MAX_GROUP = 128
/** The index of minutes and hours has a row for so many keys' share, since a row for each would be a million a day. */
const BUCKETS: Readonly<Record<BucketLevel, number>> = { 0: 128, 1: 1_024 }
/** Characters of lines of events of one file: an object is in memory while it is made. */
const SLICE_CHARS = 4 * 1024 * 1024

export interface FileSpan {
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
}

export interface LiveFile extends FileSpan {
  /** A file of its level or a higher one begins with the height behind it. */
  readonly isFollowed: boolean
}

/** Where files are still to come between others. */
export interface UnsettledHeights {
  /** Below this height some may. */
  readonly below: number
  /** Heights that are certain to be looked for. */
  readonly pending: readonly { readonly from: number; readonly to: number }[]
}

/** The first files of a level that follow one another and make one of `level`; null where more of that may come. In order of height. */
export function dueGroup(
  level: MergedLevel,
  files: readonly LiveFile[],
  { below, pending }: UnsettledHeights = { below: 0, pending: [] },
): readonly LiveFile[] | null {
  const periodOf = ({ firstMs }: FileSpan) => PERIOD_OF[level](firstMs)
  for (let at = 0, first = files[0]; first; first = files[at]) {
    const period = periodOf(first)
    const isOther = (file: FileSpan, place: number) =>
      place > at && (periodOf(file) > period || file.first - 1 !== files[place - 1]?.last)
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

/** Of other levels the index has a row for each key, in a table of their own. */
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

/** How many of the lines make the next file. */
export function sliceLength(lines: readonly string[], most = SLICE_CHARS): number {
  let chars = 0
  const end = lines.findIndex((line) => {
    chars += line.length
    return chars > most
  })
  return end < 0 ? lines.length : Math.max(1, end)
}
