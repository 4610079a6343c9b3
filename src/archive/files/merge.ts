// Merges consecutive files into one object, and returns the positions from which to continue. Invariants: each page is
// read once; lines of a key keep their order; an object ends at a page boundary, so that continuing from there again
// writes the same objects; a coin's lines of one minute stay in one object. Rows of digests may become fewer.

import { BASE_INTERVALS, spanOf } from '../candles.ts'
import { FILL_CHARS } from '../fill-amounts.ts'
import { candleCoinOf, candleLines } from './candle-lines.ts'
import type { PageHead } from './page.ts'
import { type PagePosition, PageSource, type SourceFile } from './page-source.ts'
import { type IndexEntry, type Pack, PageWriter } from './page-writer.ts'
import { Digester, digestKeyOf, digestLines, isDigest, positionKey, positionRows } from './position-lines.ts'
import { type BlockEvents, FUNDING_PREFIX, fundingLines, isInChainOrder, linesOf, lineText } from './rows.ts'

/** Bytes to read per object. The object is built in memory. */
const OBJECT_BYTES = 8 * 1024 * 1024
/** Bytes to read ahead, for all files together. */
const READ_AHEAD_BYTES = 16 * 1024 * 1024
const MAX_READ_BYTES = 1024 * 1024

/** Lines by key, except those of payments. Yields the sizes of its steps. */
export function* linesByKey(blocks: readonly BlockEvents[]): Generator<number, Map<string, string[]>> {
  const byKey = candleLines(blocks)
  for (const block of blocks) {
    for (const [key, line] of linesOf(block)) {
      const lines = byKey.get(key)
      if (lines) lines.push(line)
      else byKey.set(key, [line])
    }
    yield block.fills.length * FILL_CHARS
  }
  for (const [key, lines] of yield* positionLines(blocks)) byKey.set(key, lines)
  return byKey
}

/** Yields lines sorted by key. `byKey`: those of `linesByKey`. */
export function* sortedLines(
  blocks: readonly BlockEvents[],
  byKey: ReadonlyMap<string, readonly string[]>,
): Generator<readonly [key: string, line: string]> {
  const keys = [...byKey.keys()].sort()
  const behind = keys.findIndex((key) => key > FUNDING_PREFIX)
  const before = behind < 0 ? keys : keys.slice(0, behind)
  for (const key of before) for (const line of byKey.get(key) ?? []) yield [key, line]
  yield* fundingLines(blocks)
  for (const key of keys.slice(before.length)) for (const line of byKey.get(key) ?? []) yield [key, line]
}

/** Lines of positions and of their digests by key. */
function* positionLines(blocks: readonly BlockEvents[]): Generator<number, Map<string, string[]>> {
  const byKey = new Map<string, string[]>()
  for (const { height, time, fills } of blocks) {
    for (const [coin, rows] of positionRows(fills, { height, time })) {
      const lines = byKey.get(positionKey(coin)) ?? []
      byKey.set(positionKey(coin), lines)
      lines.push(lineText({ height, time, rows: rows.length }, JSON.stringify(rows)))
    }
    yield fills.length * FILL_CHARS
  }
  for (const [key, lines] of [...byKey]) {
    const digest = digestKeyOf(key)
    if (digest) byKey.set(digest, digestLines(lines))
    yield lines.length * FILL_CHARS
  }
  return byKey
}

export interface MergePorts {
  readonly pack: Pack
  unpack(body: Uint8Array<ArrayBuffer>): Promise<string>
}

export interface MergeResult {
  readonly pages: readonly Uint8Array[]
  readonly bytes: number
  readonly entries: readonly IndexEntry[]
  /** The position in each file from which to continue; null if the merge is complete. */
  readonly next: readonly PagePosition[] | null
}

/**
 * `from`: positions in the files; null to start at the beginning. All lines go to `tables`. All except those in
 * chain order also go into pages.
 */
export async function mergeObject(
  files: readonly SourceFile[],
  from: readonly PagePosition[] | null,
  { pack, unpack }: MergePorts,
  tables: { add(key: string, lines: readonly string[]): void },
  objectBytes = OBJECT_BYTES,
): Promise<MergeResult> {
  const stretch = Math.min(MAX_READ_BYTES, Math.floor(READ_AHEAD_BYTES / Math.max(1, files.length)))
  const sources = files.map((file, at) => new PageSource(file, from?.[at] ?? { object: 0, offset: 0 }, stretch))
  const keys: (string | null)[] = []
  for (const source of sources) keys.push((await source.peek())?.key ?? null)
  const writer = new PageWriter(pack)
  const digester = new Digester((key, line) => writer.add(key, line))
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
    if (!isDigest(page.key)) await digester.flush()
    const target = isDigest(page.key) ? digester : writer
    if (!isInChainOrder(page.key)) for (const line of lines) await target.add(page.key, line)
    tables.add(page.key, lines)
    bytesRead += page.bytes
    source.take()
    keys[at] = (await source.peek())?.key ?? null
  }
  await digester.flush()
  await writer.flush()
  const isEnd = indexOfLeast(keys) < 0
  const { pages, bytes, entries } = writer
  return { pages, bytes, entries, next: isEnd ? null : sources.map(({ position }) => position) }
}

/** Whether the next page continues a minute's candle. */
function isSameMinute(page: PageHead | null, next: PageHead): boolean {
  if (page?.key !== next.key || candleCoinOf(page.key) === null) return false
  return spanOf(BASE_INTERVALS[0], next.minMs).t <= spanOf(BASE_INTERVALS[0], page.maxMs).t
}

/** Index of the file that has the smallest key, the first if several have it; -1 if all files are exhausted. */
function indexOfLeast(keys: readonly (string | null)[]): number {
  let least: string | null = null
  for (const key of keys) if (key !== null && (least === null || key < least)) least = key
  return least === null ? -1 : keys.indexOf(least)
}
