// One object out of files that follow one another, and where to go on. Invariants: each page is read once; of a key what came first
// stays first; an object ends where a page that was read does, so that whoever goes on from there, however often, writes the
// same objects; a coin's lines of one minute are in one object.

import { BASE_INTERVALS, spanOf } from '../candles.ts'
import { candleCoinOf, candleLines } from './candle-lines.ts'
import type { PageHead } from './page.ts'
import { type PagePosition, PageSource, type SourceFile } from './page-source.ts'
import { type IndexEntry, type Pack, PageWriter } from './page-writer.ts'
import { ALL_FILLS, type BlockEvents, FUNDING_PREFIX, fundingLines, linesOf } from './rows.ts'

/** An object ends with the page with which so many bytes were read for it: it is in memory while it is made. */
const OBJECT_BYTES = 8 * 1024 * 1024
/** Of all files together, read ahead. */
const READ_AHEAD_BYTES = 16 * 1024 * 1024
const MAX_READ_BYTES = 1024 * 1024

/** The lines of blocks by their keys, in the order of the keys. */
export function* sortedLines(blocks: readonly BlockEvents[]): Generator<readonly [key: string, line: string]> {
  const byKey = candleLines(blocks)
  for (const block of blocks)
    for (const [key, line] of linesOf(block)) {
      const lines = byKey.get(key)
      if (lines) lines.push(line)
      else byKey.set(key, [line])
    }
  const keys = [...byKey.keys()].sort()
  const behind = keys.findIndex((key) => key > FUNDING_PREFIX)
  const before = behind < 0 ? keys : keys.slice(0, behind)
  for (const key of before) for (const line of byKey.get(key) ?? []) yield [key, line]
  yield* fundingLines(blocks)
  for (const key of keys.slice(before.length)) for (const line of byKey.get(key) ?? []) yield [key, line]
}

export interface MergePorts {
  readonly pack: Pack
  unpack(body: Uint8Array<ArrayBuffer>): Promise<string>
}

export interface MergeResult {
  readonly pages: readonly Uint8Array[]
  readonly bytes: number
  readonly entries: readonly IndexEntry[]
  /** Of each file; null: all is merged. */
  readonly next: readonly PagePosition[] | null
}

/** `from`: where each file goes on; null: from its beginning. What is read is told to `tables`, and goes into pages but for ALL_FILLS. */
export async function mergeObject(
  files: readonly SourceFile[],
  from: readonly PagePosition[] | null,
  { pack, unpack }: MergePorts,
  tables: { tell(key: string, lines: readonly string[]): void },
  objectBytes = OBJECT_BYTES,
): Promise<MergeResult> {
  const stretch = Math.min(MAX_READ_BYTES, Math.floor(READ_AHEAD_BYTES / Math.max(1, files.length)))
  const sources = files.map((file, at) => new PageSource(file, from?.[at] ?? { object: 0, offset: 0 }, stretch))
  const keys: (string | null)[] = []
  for (const source of sources) keys.push((await source.peek())?.key ?? null)
  const writer = new PageWriter(pack)
  let bytesRead = 0
  let last: PageHead | null = null
  for (;;) {
    const at = indexOfLeast(keys)
    const source = sources[at]
    const page = await source?.peek()
    if (!source || !page) break
    if (bytesRead >= objectBytes && !isSameMinute(last, page)) break
    last = page
    const lines = (await source.orDamage(() => unpack(page.body))).split('\n')
    if (page.key !== ALL_FILLS) for (const line of lines) await writer.add(page.key, line)
    tables.tell(page.key, lines)
    bytesRead += page.bytes
    source.take()
    keys[at] = (await source.peek())?.key ?? null
  }
  await writer.flush()
  const isEnd = indexOfLeast(keys) < 0
  const { pages, bytes, entries } = writer
  return { pages, bytes, entries, next: isEnd ? null : sources.map(({ position }) => position) }
}

/** Whether a candle of the one page goes on in the next. */
function isSameMinute(page: PageHead | null, next: PageHead): boolean {
  if (page?.key !== next.key || candleCoinOf(page.key) === null) return false
  return spanOf(BASE_INTERVALS[0], next.minMs).t <= spanOf(BASE_INTERVALS[0], page.maxMs).t
}

/** Of files with the least key the first; -1 where all are at their end. */
function indexOfLeast(keys: readonly (string | null)[]): number {
  let least: string | null = null
  for (const key of keys) if (key !== null && (least === null || key < least)) least = key
  return least === null ? -1 : keys.indexOf(least)
}
