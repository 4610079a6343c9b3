// Which files there are: of about a minute, an hour, a day, made of those below. Law: what is merged with what depends on the
// files' heights and times alone, and a file is merged once what follows its hour, or its day, has come.

import { hash32 } from '../../core/hash.ts'

export const LEVELS = ['minute', 'hour', 'day'] as const
/** A place in LEVELS. */
export type Level = 0 | 1 | 2
export type MergedLevel = Exclude<Level, 0>

const HOUR_MS = 3_600_000
/** What files are merged into, by the level of the new one. */
const PERIOD_MS: Readonly<Record<MergedLevel, number>> = { 1: HOUR_MS, 2: 24 * HOUR_MS }
/** Files that are merged at once, such as where gaps made many. */
export const GROUP_MOST = 128
/** The index of minutes and hours has a row for so many keys' share, since a row for each would be a million a day. */
const BUCKETS: Readonly<Record<0 | 1, number>> = { 0: 128, 1: 1_024 }
/** Characters of lines of events of one file: an object is in memory while it is made. */
const SLICE_CHARS = 4 * 1024 * 1024

export interface FileSpan {
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
}

/** The first files of a level that make one of `level`; null where more of that may come. `files` in order of height. */
export function dueGroup(level: MergedLevel, files: readonly FileSpan[]): readonly FileSpan[] | null {
  const periodOf = ({ firstMs }: FileSpan) => Math.floor(firstMs / PERIOD_MS[level])
  const [first] = files
  if (!first) return null
  const later = files.findIndex((file) => periodOf(file) > periodOf(first))
  const count = Math.min(later < 0 ? files.length : later, GROUP_MOST)
  return later < 0 && count < GROUP_MOST ? null : files.slice(0, count)
}

export function bucketOf(level: 0 | 1, key: string): number {
  return hash32(key) % BUCKETS[level]
}

export function bucketsOf(level: 0 | 1): number[] {
  return [...Array(BUCKETS[level]).keys()]
}

/** How many of the lines make the next file. */
export function sliceOf(lines: readonly string[], most = SLICE_CHARS): number {
  let chars = 0
  const end = lines.findIndex((line) => {
    chars += line.length
    return chars > most
  })
  return end < 0 ? lines.length : Math.max(1, end)
}
